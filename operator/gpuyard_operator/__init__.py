"""The gang operator: the pods of a PodGroup start together or not at all.

Stands for scheduler-plugins' coscheduling, from outside kube-scheduler. Law of this package: `reconcile` decides from
values alone; `service` does it over ports; `handlers`, `planner` and `main` are the only modules that know a network.
"""
