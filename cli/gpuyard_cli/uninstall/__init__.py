"""`gpuyard uninstall`: takes GPUYard from a cluster and leaves nothing behind."""
