"""The embedded API server.

Stands for kube-apiserver with etcd. Law of this package: transport-free; `server.APIServer.handle` turns a request
into a response without waiting, and only `http` knows a network. It knows Kubernetes, never a GPU.
"""
