"""What every shell shares to live in a Kubernetes cluster: time and tasks, the API server, leadership.

Stands for client-go. Law of this package: it carries requests and events; it decides nothing about GPUs.
"""
