"""The domain of GPUYard: GPUs, MIG, topology, placement, gangs and verdicts, as values and functions.

Law of this package: nothing here does I/O, reads a clock, draws random numbers, logs, or knows a framework.
To run a cluster, a scenario or a replay from Python, see `gpuyard_cli.api`; the domain does not know of them.
Values are frozen; time is an argument called `now` (seconds since the epoch); a "no" is returned as data.
"""
