"""The machines: GPUs, MIG instances and how they are wired, as values.

Stands for NVML and NVIDIA's resource manager, with the published tables of boards and profiles as data.
"""
