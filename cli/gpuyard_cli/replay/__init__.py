"""`gpuyard replay` and `gpuyard sweep`: traces against policies."""
