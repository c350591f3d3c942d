"""`gpuyard explain` and `gpuyard simulate`: why a pod waits, and what would fit."""
