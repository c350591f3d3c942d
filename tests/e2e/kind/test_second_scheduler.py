"""Where the control plane cannot be configured: a second kube-scheduler, which asks the extender as well."""

from pathlib import Path

from gpuyard import vocabulary
from tests.e2e.kind.cluster import play
from tests.e2e.operators.programs import kubectl
from tests.e2e.stories.cluster import Cluster, until

FOLDER = Path(__file__).parents[3] / "manifests/components/second-scheduler"
DEPLOYMENT = f"/apis/apps/v1/namespaces/{vocabulary.NAMESPACE}/deployments/gpuyard-scheduler"


async def _ready(cluster: Cluster) -> bool:
    status = (await cluster.api.read(DEPLOYMENT)).body.get("status") or {}
    return bool(status.get("readyReplicas"))


def test_a_pod_of_the_second_scheduler_gets_what_the_extender_planned(kubeconfig: str) -> None:
    async def story(cluster: Cluster) -> None:
        await until(lambda: _ready(cluster), "the second scheduler is there")
        await cluster.submit("first", gpus=2)
        await cluster.submit("second", gpus=2, schedulerName="gpuyard-scheduler")
        await cluster.running(["first", "second"])
        await cluster.sound()

    kubectl(Path(kubeconfig), "apply", "--kustomize", str(FOLDER))
    try:
        play(kubeconfig, "second-scheduler", story)
    finally:
        kubectl(Path(kubeconfig), "delete", "--kustomize", str(FOLDER))
