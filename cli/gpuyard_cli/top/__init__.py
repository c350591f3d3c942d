"""`gpuyard top`: who uses which GPU, now or as it changes."""
