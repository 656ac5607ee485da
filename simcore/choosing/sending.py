"""What makes questions and their kernels picklable; see :mod:`simcore.batches.sending`."""

from __future__ import annotations

import copyreg
from typing import Any

from simcore.batches.sending import fields_only
from simcore.choosing.average_showcase import Deals
from simcore.choosing.elections import Worlds
from simcore.choosing.one_view import ViewQuestion
from simcore.choosing.question import ElectionsQuestion

__all__: list[str] = []


def _worlds(question: ElectionsQuestion, slips: int) -> Worlds:
    worlds = Worlds(question)
    worlds.slips = slips
    return worlds


def _send_worlds(worlds: Worlds) -> tuple[Any, ...]:
    return _worlds, (worlds.question, worlds.slips)


def _send_deals(deals: Deals) -> tuple[Any, ...]:
    return Deals, (deals.config,)


copyreg.pickle(Worlds, _send_worlds)
copyreg.pickle(Deals, _send_deals)
fields_only(ElectionsQuestion)
fields_only(ViewQuestion)
