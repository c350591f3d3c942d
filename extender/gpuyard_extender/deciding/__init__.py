"""Where a pod or a gang goes, and who has to go for it: pure functions of the ledger.

Stands for the plugins of kube-scheduler's framework: Filter, Score and PostFilter, and for the search of gangs.
"""
