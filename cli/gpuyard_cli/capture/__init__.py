"""`gpuyard capture`: a real cluster as a yard, or what happens on it as a trace."""
