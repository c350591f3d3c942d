"""Traces of real clusters, replayed against the domain's policies.

Stands for the simulator of "Beware of Fragmentation" (USENIX ATC '23): kube-scheduler with one score plugin, on nodes
that nothing ever leaves. Law: the policies are those that the extender runs; this package adds reading, arrivals and
what is measured, and decides nothing by itself.
"""
