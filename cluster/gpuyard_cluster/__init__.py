"""The embedded cluster: an API server, a scheduler, kubelets and controllers in one process.

Law of this package: only `wiring` knows the GPUYard components; everything else knows Kubernetes alone and
names no GPU and no MIG type.
"""
