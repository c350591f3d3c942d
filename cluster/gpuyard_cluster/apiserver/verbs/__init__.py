"""What requests do, one module for each verb or subresource.

Stands for kube-apiserver's endpoint handlers and REST strategies.
"""
