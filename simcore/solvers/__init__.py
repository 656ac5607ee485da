"""Exact solvers with all cards seen: four hands (Elections) in ``four``, two hands (Showcase's second playout) in ``two``."""

from simcore.solvers.four import (
    MOST_PLIES,
    PAIRINGS,
    PLIES_ACCEPTED,
    GaveUp,
    Solution,
    Solver,
    bound_deals,
    check_position,
    contract_terms,
    is_plies,
    own_solver,
    points_of,
    solve_deals,
    solve_position,
)

__all__ = [
    "MOST_PLIES",
    "PAIRINGS",
    "PLIES_ACCEPTED",
    "GaveUp",
    "Solution",
    "Solver",
    "bound_deals",
    "check_position",
    "contract_terms",
    "is_plies",
    "own_solver",
    "points_of",
    "solve_deals",
    "solve_position",
]
