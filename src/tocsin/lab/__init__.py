"""Workloads, the ways of matching that tocsin is compared with, and the demonstration."""
