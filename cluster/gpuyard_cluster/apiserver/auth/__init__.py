"""Who asks, and what they may do.

Stands for `k8s.io/apiserver/pkg/authentication` and `.../authorization`.
"""
