"""What the cluster holds, and who holds it: objects as values, claims on devices, and the ledger of both.

Stands for kube-scheduler's cache. Law: `ledger` is the whole of it; whoever decides asks there.
"""
