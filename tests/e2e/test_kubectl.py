"""A kubectl session on the embedded cluster, answered as a real cluster answered it."""

import pytest

from tests.e2e.clients.conftest import served
from tests.e2e.kubectl import playing
from tests.e2e.kubectl.recording import differences
from tests.e2e.kubectl.session import NOT_SERVED, SESSION


@pytest.fixture(scope="module")
def kubectl() -> str:
    found, why = playing.find()
    if not found:
        pytest.skip(why)
    return found


@pytest.fixture(scope="module")
def answers(kubectl: str, tmp_path_factory: pytest.TempPathFactory) -> list[playing.Answer]:
    """All commands on one embedded cluster, one after the other."""
    folder = tmp_path_factory.mktemp("kubectl")
    with served(folder) as kubeconfig:
        return list(playing.play(kubectl, str(kubeconfig), [*SESSION, *NOT_SERVED], str(folder)))


def test_the_embedded_cluster_answers_kubectl_as_a_real_one(answers: list[playing.Answer]) -> None:
    found = differences(answers[: len(SESSION)])
    assert not found, "\n\n".join(found)


def test_what_is_not_served_is_refused_in_so_many_words(answers: list[playing.Answer]) -> None:
    *_, execute, attach, forward = answers
    for answer, part in ((execute, "pods/exec"), (attach, "pods/attach"), (forward, "pods/portforward")):
        assert answer.code
        assert part in answer.text
