"""Measures coda's kernels beside other libraries'; see docs/Benchmarks.md."""
