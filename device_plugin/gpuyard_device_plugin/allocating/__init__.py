"""Who gets which device: the pod in hand, what was planned for it, and what it is given.

Stands for GetPreferredAllocation and Allocate of NVIDIA's plugin.
"""
