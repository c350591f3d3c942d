"""Admission policies, and the expressions in which they are written.

Stands for the policy plugins of kube-apiserver's admission chain.
"""
