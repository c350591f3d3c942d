"""What the server knows of built-in kinds: where they are served, their types, their defaults.

Stands for the scheme and the defaulting of kube-apiserver.
"""
