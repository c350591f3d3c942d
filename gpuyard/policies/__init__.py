"""Which of the nodes that fit is best: policies over columns.

Stands for the score plugins of a scheduler framework. Law: a policy is a function of `Candidates`, one row a node,
and returns one integer a row, or one for each row and GPU where the GPU of a share matters; higher is better. A row's
score depends on this row, the pod and the workload alone, so that it may be remembered until the row changes; a
profile (`profiles.Weighted`), which compares rows, is never remembered. The extender and the replay of traces run the
same functions.
"""
