"""What a pod asks for: devices, shares and wishes, and everything else that has to fit a node.

Stands for kube-scheduler's in-tree filters and for what Kubernetes' libraries compute of a pod's requests.
"""
