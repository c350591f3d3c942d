"""The domain of GPUYard: GPUs, MIG, topology, placement, gangs and verdicts, as values and functions.

Law of this package: nothing here does I/O, reads a clock, draws random numbers, logs, or knows a framework.
Values are frozen; time is an argument called `now` (seconds since the epoch); a "no" is returned as data.
"""
