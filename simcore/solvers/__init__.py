"""Exact solvers with all cards seen: four hands (Elections) in ``four``, two hands (Showcase's second playout) in ``two``."""

from simcore.solvers.four import (
    PAIRINGS,
    Solution,
    Solver,
    check_position,
    contract_terms,
    own_solver,
    points_of,
    solve_deals,
    solve_position,
)

__all__ = [
    "PAIRINGS",
    "Solution",
    "Solver",
    "check_position",
    "contract_terms",
    "own_solver",
    "points_of",
    "solve_deals",
    "solve_position",
]
