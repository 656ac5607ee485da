"""The auction of Elections: legal calls, and what a call does (E3–E11)."""

from __future__ import annotations

from typing import Any

import numpy as np

from simcore._jit import I64, U64, njit
from simcore.bits import ONE, ZERO, ctz, popcount
from simcore.elections.state import DONE, NAMING, PASSED_OUT, PLAYED, PLAYING, REDEALT

__all__ = ["apply_call", "apply_contract", "legal_calls", "legal_contracts", "set_sides", "start_play"]


@njit
def legal_calls(rules: Any, view: Any, seat: I64) -> U64:
    """Return the calls a seat may make: pass, and types neither too low (E4) nor named by it before (E5)."""
    types = ((ONE << np.uint64(rules.types)) - ONE) & ~view.named[seat]
    if rules.calls == 0 and view.standing > 0:
        types &= ~((ONE << np.uint64(view.standing)) - ONE)
    return (types << ONE) | ONE


@njit
def _matching_seat(rules: Any, view: Any, seat: I64, kind: I64) -> I64:
    """Return whom a seat that names a type would match (E7), or -1."""
    if rules.match == 0:
        return view.standing_seat if view.standing == kind and view.standing_seat != seat else -1
    for other in range(4):
        named_it = (view.named[other] >> np.uint64(kind)) & ONE
        if other != seat and named_it == ONE and (view.passed >> other) & 1 == 0:
            return other
    return -1


@njit
def set_sides(view: Any, declarer: I64, pairing: I64) -> None:
    """Fix declarer and partners."""
    view.declarer = declarer
    view.pairing = pairing
    view.attackers = (1 << declarer) | (1 << (declarer ^ pairing))


@njit
def _first_namer(view: Any, kind: I64, seat: I64, partner: I64) -> I64:
    """Return which of two attackers named a type first (E10)."""
    for i in range(view.calls_made):
        caller = np.int64(view.callers[i])
        if view.calls[i] == kind + 1 and (caller == seat or caller == partner):
            return caller
    return seat


@njit
def apply_call(rules: Any, table: Any, view: Any, seat: I64, call: U64) -> None:
    """Make a call (a one-bit mask); moves the turn or ends the auction."""
    number = ctz(call)
    view.calls[view.calls_made] = np.int8(number)
    view.callers[view.calls_made] = np.int8(seat)
    view.calls_made += 1
    partner = np.int64(-1)
    if number == 0:
        view.passes += 1
        if rules["pass"] == 0:
            view.passed |= 1 << seat
    else:
        kind = number - 1
        partner = _matching_seat(rules, view, seat, kind)
        view.passes = 0
        view.named[seat] |= ONE << np.uint64(kind)
        view.standing = kind
        view.standing_seat = seat
    if partner >= 0:  # E7
        view.matched = 1
        _end_auction(rules, table, view, seat, partner)
        return
    out = popcount(np.uint64(view.passed)) if rules["pass"] == 0 else np.int64(view.passes)
    if view.standing < 0 and out == 4:  # E9
        table.status = REDEALT if rules.passed_out == 1 else PASSED_OUT
        table.phase = DONE
        return
    if view.standing >= 0 and out == 3:  # E8
        if rules.unmatched == 1:
            table.status = REDEALT
            table.phase = DONE
            return
        owner = np.int64(view.standing_seat)
        _end_auction(rules, table, view, owner, owner ^ view.lots)
        return
    following = (seat + 1) & 3
    while (view.passed >> following) & 1:
        following = (following + 1) & 3
    table.turn = following


@njit
def _end_auction(rules: Any, table: Any, view: Any, seat: I64, partner: I64) -> None:
    """Fix type, sides and declarer; the declarer is asked for the contract where there is a choice (E11)."""
    view.type = view.standing
    set_sides(view, _first_namer(view, view.standing, seat, partner), seat ^ partner)
    table.phase = NAMING
    table.turn = view.declarer


@njit
def legal_contracts(rules: Any, view: Any) -> U64:
    """Return the contracts of the final type as a mask (E11)."""
    contracts = ZERO
    for i in range(rules.type_size[view.type]):
        contracts |= ONE << np.uint64(rules.type_contract[view.type, i])
    return contracts


@njit
def apply_contract(rules: Any, table: Any, view: Any, contract: U64) -> None:
    """Take the declarer's word for the contract (a one-bit mask)."""
    start_play(rules, table, view, ctz(contract))


@njit
def start_play(rules: Any, table: Any, view: Any, contract: I64) -> None:
    """Set contract, trump and first leader (E12); declarer and sides are known."""
    view.contract = contract
    view.type = rules.contract_type[contract]
    view.low = rules.low[contract]
    view.trump = ZERO if rules.low_trump == 1 and view.low == 1 else rules.trump[contract]
    view.leader = ((view.dealer if rules.lead == 1 else view.declarer) + 1) & 3
    table.status = PLAYED
    table.phase = PLAYING
    table.turn = view.leader
