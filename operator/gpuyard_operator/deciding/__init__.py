"""The life of one gang, as pure functions: what is seen of it, what to write, when to look again.

Stands for the core of scheduler-plugins' coscheduling. `reconcile` is the way in.
"""
