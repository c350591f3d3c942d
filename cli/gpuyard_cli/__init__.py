"""The `gpuyard` command, and the scenarios that it runs.

Law of this package: a scenario knows no backend and a backend no scenario; they meet in `backends.Backend`.
"""
