"""Compile every kernel by using it once on something small."""

from __future__ import annotations

from collections.abc import Iterator

__all__ = ["warm"]


def warm() -> Iterator[str]:
    """Run each kernel once; yields the name of each as it is ready."""
    from simcore.batches.config import GAME_SEATS, dealing_plan, make_config
    from simcore.batches.replaying import replay_config
    from simcore.batches.run import run_simulation
    from simcore.batches.solved import solve_table
    from simcore.batches.solving import solve
    from simcore.deals.dealing import deal_conditioned, deal_hands, deal_showcase
    from simcore.rules import load_ruleset

    deal_hands(0, 0, 1)
    deal_showcase(0, 0, 1)
    deal_conditioned(0, 0, 1, dealing_plan("elections", None, "N.spades > 3"))
    yield "deals"
    for game in GAME_SEATS:
        run_simulation(make_config(game, seed=0, deals=8, players="greedy"), threads=1)
        # random players, where nobody is asked: a kernel of its own
        run_simulation(make_config(game, seed=0, deals=8, contract="random" if game == "elections" else None), threads=1)
        if game == "elections":  # four experts, who play many deals at once
            run_simulation(make_config(game, seed=0, deals=8, contract="random", players="expert"), threads=1)
        list(replay_config(make_config(game, seed=0, deals=1)))
        yield game
    deal = "N:KT9... QJ8... 765... A32..."
    solve(deal, contract="clubs-tricks", cards=True)
    solve_table([[1, 2, 4, 8]], contract="nt-most")
    list(replay_config(make_config("elections", seed=0, deals=1, contract="nt-most", players="oracle"), double_dummy=True))
    yield "solver of elections"
    solve("N:KT9... QJ8...", cards=True, line=True)
    solve("N:KT9... QJ8...", ruleset=load_ruleset("showcase").with_choices(all_trump="rank"))
    list(replay_config(make_config("showcase", seed=0, deals=1, players="oracle"), double_dummy=True))
    yield "solver of showcase"
    for game in GAME_SEATS:
        for spec in ("rollout:worlds=1", "pimc:worlds=1,rollouts=1", "ismcts:iterations=2"):
            run_simulation(make_config(game, seed=0, deals=1, players=spec), threads=1)
    yield "players that search"
