"""Who has to go for somebody more important, and what is lost by it.

Stands for kube-scheduler's PostFilter, with whole gangs as victims and shapes (a MIG hole, a rack) to make room for.
"""
