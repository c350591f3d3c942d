"""A yard from the nodes and pods of a cluster that exists, as `kubectl get nodes,pods -A -o yaml` prints them.

Law of this package: what the objects say becomes so; what they do not say is assumed in one documented way, and said.
"""
