"""Generated messages and stubs of two gRPC APIs of the kubelet: device plugin v1beta1 and pod-resources v1.

Stands for k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1 and .../podresources/v1. No package on PyPI ships them, so
the two .proto files beside this one are ours, and what protoc makes of them is committed. Each file has a name of
its own, because protobuf registers files by name and upstream calls both `api.proto`.

To make them again, in an environment of its own with grpcio-tools 1.71.2 (a newer generator would demand a newer
grpcio and protobuf than pyproject.toml does), from the folder `device_plugin`:

    python -m grpc_tools.protoc -I. --python_out=. --pyi_out=. --grpc_python_out=. \\
        gpuyard_device_plugin/kubelet_api/deviceplugin_v1beta1.proto \\
        gpuyard_device_plugin/kubelet_api/podresources_v1.proto
"""
