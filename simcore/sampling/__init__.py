"""Worlds that a seat could be in, and what its choices come to in them: kernels of the searching players."""
