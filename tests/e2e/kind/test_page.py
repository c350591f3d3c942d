"""The live yard on a real cluster: behind a token, and for looking alone."""

from gpuyard import vocabulary
from gpuyard_cli.connecting.extender_proxy import ExtenderProxy
from tests.e2e.kind.cluster import play
from tests.e2e.kind.test_operation import asked
from tests.e2e.stories.cluster import Cluster, node_of, until


def test_the_page_takes_a_token_has_no_buttons_and_tells_what_the_kubelet_gave(kubeconfig: str) -> None:
    async def story(cluster: Cluster) -> None:
        await cluster.submit("two", gpus=2)
        pods = await cluster.running(["two"])
        for path in ("/ui/", "/ui/app.js", "/ui/events", f"/ui/pods/{cluster.namespace}/two"):
            answers = await asked(cluster, vocabulary.EXTENDER, path)
            assert {status for status, _ in answers} == {401}, path
        extender = ExtenderProxy(cluster.api)
        about = await extender.ask("/ui/about")
        assert (about.status, about.body) == (200, {"readOnly": True, "signedIn": False, "examples": []})
        assert not (await extender.ask("/ui/faults", {"node": node_of(pods["two"]), "gpu": 0})).ok

        async def told() -> bool:
            found = await extender.ask(f"/ui/pods/{cluster.namespace}/two")
            places = found.body.get("given", ())
            return len(places) == 2 and all(place.isdecimal() for place in places)

        await until(told, "the page says which GPUs the pod has")

    play(kubeconfig, "page", story)
