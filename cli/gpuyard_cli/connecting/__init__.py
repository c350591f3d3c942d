"""How a command finds the cluster and the extender that it is about."""
