"""The embedded scheduler: takes one pending pod after the other and binds it to a node.

Stands for kube-scheduler 1.36. Law of this package: it counts resources by name and asks its extenders; it names no
GPU and no MIG type, so that nothing but the extender protocol can make the two agree.
"""
