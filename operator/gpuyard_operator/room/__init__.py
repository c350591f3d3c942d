"""Whether there can be room for a gang, by sums of what nodes offer, before the extender is asked.

Stands for kube-scheduler's queueing hints. Law: they may say yes in vain, and never no in vain (ADR 28).
"""
