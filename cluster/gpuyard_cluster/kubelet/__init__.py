"""The embedded kubelet: registers its node, admits pods, hands out devices, and plays the containers.

Stands for the kubelet 1.36. Law of this package: devices are ids under a resource name. It never reads a plan, names
no GPU and no MIG type, and picks free ids at random unless the plugin prefers some: nothing agrees by luck.
"""
