"""The device plugin: fake GPUs, offered to a kubelet exactly as NVIDIA's plugin offers real ones.

Stands for NVIDIA's k8s-device-plugin and gpu-feature-discovery. Law: what to offer, prefer and give is decided by
pure modules (`config`, `node_inventory`, `gfd`, `driver_reports`, `pod_devices`, `identity`, `choice`, `allocations`,
`on_demand`); `admissions`, `mig_driver`, `publication` and `service` put them together over ports; only `server`,
`dialing`, `shell` and `main` know sockets and processes. Nothing here is remembered that cannot be found out again
from the API and the kubelet.
"""
