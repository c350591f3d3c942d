"""`gpuyard up`: an embedded cluster to work with, until it is stopped."""
