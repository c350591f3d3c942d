"""Objects at rest and their changes as readers see them.

Stands for etcd, the cacher and the registry store of kube-apiserver.
"""
