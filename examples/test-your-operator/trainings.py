"""An operator: a ConfigMap with the label `example.com/training` becomes a Job that asks for `gpus` GPUs."""

from typing import Any

import kopf
from kubernetes import client

LABEL = "example.com/training"


@kopf.on.create("configmaps", labels={LABEL: kopf.PRESENT})
def start(name: str, namespace: str, body: Any, **_: Any) -> None:
    """The Job has the ConfigMap's name, and goes with it."""
    limits = {"nvidia.com/gpu": body["data"]["gpus"]}
    container = {"name": "main", "image": "busybox:1.36", "resources": {"limits": limits}}
    template = {
        "metadata": {"labels": {LABEL: name}},
        "spec": {"restartPolicy": "Never", "containers": [container]},
    }
    job = {"metadata": {"name": name}, "spec": {"template": template, "backoffLimit": 0}}
    kopf.adopt(job)
    client.BatchV1Api().create_namespaced_job(namespace, job)
