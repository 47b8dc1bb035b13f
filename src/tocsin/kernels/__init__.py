"""The only Numba: bare loops over arrays. One file per idea; jit.py holds the one decorator."""
