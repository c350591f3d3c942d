"""The web server, with bounds for what a client can take, and TLS. It knows nothing of GPUs.

Stands for Go's http.Server as Kubernetes components set it up.
"""
