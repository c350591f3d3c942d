"""Objects as tables, as kubectl shows them.

Stands for kube-apiserver's printers.
"""
