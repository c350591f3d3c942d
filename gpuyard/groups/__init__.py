"""Pods that start together or not at all, where they go, and whose turn it is.

Stands for the coscheduling plugin's PodGroups and for Kueue's quotas. `gangs` finds places for all members; `plans`
and `reservations` are what operator and extender tell each other of it.
"""
