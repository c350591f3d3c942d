"""Custom resources: definitions, structural schemas, defaulting, pruning and validation.

Stands for apiextensions-apiserver.
"""
