"""Exact perfect-information solvers."""
