"""Operators whose jobs are gangs, a row for each, and what their jobs go through on whatever cluster."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path

from gpuyard import vocabulary
from gpuyard.writes import JSON, PatchType, Write
from tests.e2e.operators.gangs import Place, has, leaves_nothing, runs_as_a_whole, waits_as_a_whole
from tests.e2e.operators.programs import Operator, Webhooks
from tests.e2e.stories.cluster import until


@dataclass(frozen=True)
class Jobs:
    """An operator, the kind that it serves, and a published sample of it: one leader, and workers with a GPU each."""

    operator: Operator
    resource: str
    sample: str
    enlarge: Callable[[JSON, int], list[JSON]]
    """Give a job's spec so many workers; the templates of its pods."""
    beside: tuple[str, ...]
    """What there is for a job with two workers beside its pods."""
    least: JSON
    """The spec of the PodGroup of such a job."""
    leader_gpus: int = 0
    submit: Callable[[Place, str, JSON], Awaitable[str]] = Place.submit
    real: Operator | None = None
    """As it is started where its pods are more than names."""

    def job(self, place: Place, workers: int, prepare: Callable[[JSON, list[JSON]], None]) -> JSON:
        found = place.running.sample(self.sample)
        prepare(found, self.enlarge(found["spec"], workers))
        return found


def as_published(_job: JSON, _templates: list[JSON]) -> None:
    """On embedded nodes any image runs, and does nothing."""


async def start_or_wait_as_a_whole(
    place: Place, jobs: Jobs, gpus: int, prepare: Callable[[JSON, list[JSON]], None] = as_published
) -> None:
    """A job that fits, and then one that needs one more than all the GPUs of the cluster."""
    name = await jobs.submit(place, jobs.resource, jobs.job(place, 2, prepare))
    await runs_as_a_whole(place, name, members=3, gpus=2 + jobs.leader_gpus)
    await has(place, *(found.format(name=name) for found in jobs.beside))
    spec = (await place.group(name))["spec"]
    assert spec == jobs.least, spec
    await leaves_nothing(place, jobs.resource, name)
    workers = gpus + 1 - jobs.leader_gpus
    await jobs.submit(place, jobs.resource, jobs.job(place, workers, prepare))
    members = workers + 1
    message = await waits_as_a_whole(place, name, members)
    assert f"all {members} members need {gpus + 1} nvidia.com/gpu, all nodes have {gpus}" in message
    await leaves_nothing(place, jobs.resource, name)


def _with_roles(key: str) -> Callable[[JSON, int], list[JSON]]:
    """As Kubeflow writes jobs: replicas and a template for each role."""

    def enlarge(spec: JSON, workers: int) -> list[JSON]:
        spec[key]["Worker"]["replicas"] = workers
        return [role["template"] for role in spec[key].values()]

    return enlarge


def _with_head(spec: JSON, workers: int) -> list[JSON]:
    """The workers of KubeRay's sample of a gang ask for no GPU."""
    [group] = spec["workerGroupSpecs"]
    group |= {"replicas": workers, "minReplicas": workers, "maxReplicas": workers}
    group["template"]["spec"]["containers"][0]["resources"]["limits"][vocabulary.GPU] = 1
    return [spec["headGroupSpec"]["template"], group["template"]]


async def _nudged(place: Place, resource: str, job: JSON) -> str:
    """Its name, once the operator has made its pods.

    v1.8.1 looks again, when it does not know the PodGroup yet that it has just made, because it then writes the time
    into the job's status: in seconds, so that a second such look within one is the last. Each change makes it look.
    """
    name = await place.submit(resource, job)
    path, looks = f"{place.within(*resource.split())}/{name}", count()

    async def has_pods() -> bool:
        if await place.members(name):
            return True
        change = {"metadata": {"annotations": {"looks": str(next(looks))}}}
        await place.api.send(Write("PATCH", path, change, PatchType.MERGE))
        return False

    await until(has_pods, lambda: f"the job has pods\n{place.running.told()}")
    return name


_MPI = Operator(
    "mpi-operator", "manifests/overlays/standalone", ("--gang-scheduling=scheduler-plugins-scheduler",)
)
_KUBERAY = Operator(
    "kuberay",
    "config/default",
    (
        "--batch-scheduler=scheduler-plugins",
        "--enable-leader-election=false",  # the namespace of its Lease it knows only within a pod
        "--metrics-addr=0",
        "--health-probe-bind-address=0",
    ),
)
_TRAINING = Operator(
    "training-operator",
    "manifests/overlays/standalone",
    (
        "--gang-scheduler-name=scheduler-plugins-scheduler",
        "--metrics-bind-address=0",
        "--health-probe-bind-address=0",
    ),
    Webhooks(
        "kubeflow",
        "training-operator",
        "training-operator-webhook-cert",
        # The program's own constant.
        Path("/tmp/k8s-webhook-server/serving-certs"),
    ),
)
MPI = Jobs(
    _MPI,
    "apis/kubeflow.org/v2beta1 mpijobs",
    "examples/v2beta1/tensorflow-benchmarks/tensorflow-benchmarks.yaml",
    _with_roles("mpiReplicaSpecs"),
    ("services/{name}", "configmaps/{name}-config", "secrets/{name}-ssh"),
    {"minMember": 3, "minResources": {"nvidia.com/gpu": "2"}, "scheduleTimeoutSeconds": 0},
)
KUBERAY = Jobs(
    _KUBERAY,
    "apis/ray.io/v1 rayclusters",
    "config/samples/ray-cluster.scheduler-plugins.yaml",
    _with_head,
    ("services/{name}-head-svc",),
    {"minMember": 3, "minResources": {"cpu": "3", "memory": "4Gi", "nvidia.com/gpu": "2"}},
    # Both would ask for Ray in an image that has none.
    real=replace(
        _KUBERAY,
        environment={"ENABLE_INIT_CONTAINER_INJECTION": "false", "ENABLE_PROBES_INJECTION": "false"},
    ),
)
TRAINING = Jobs(
    _TRAINING,
    "apis/kubeflow.org/v1 pytorchjobs",
    "examples/pytorch/mnist/v1/pytorch_job_mnist_gloo.yaml",
    _with_roles("pytorchReplicaSpecs"),
    ("services/{name}-master-0", "services/{name}-worker-1"),
    {"minMember": 3, "minResources": {"nvidia.com/gpu": "3"}},
    leader_gpus=1,
    submit=_nudged,
    # What it adds to workers waits for the master's name, which needs a DNS server.
    real=replace(
        _TRAINING,
        flags=(
            *_TRAINING.flags,
            f"--pytorch-init-container-template-file={Path(__file__).parent / 'at-once.yaml'}",
        ),
    ),
)
ALL = (MPI, KUBERAY, TRAINING)
