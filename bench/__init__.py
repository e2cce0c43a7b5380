"""Benchmarks: what takes how long, beside the peers and the goals, measured in one run. `python -m bench`."""
