"""What built-in kinds must obey, one module for each family of kinds.

Stands for the `Validate*` functions of `k8s.io/kubernetes/pkg/apis`. Law: every rule yields a Cause whose field and
words are kube-apiserver's; objects were decoded and defaulted before.
"""
