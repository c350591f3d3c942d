"""What people ask of a pod that waits: why it does, what would help, and what would happen if."""
