"""What a container gets to see of its devices: variables, CDI files and `nvidia-smi`."""
