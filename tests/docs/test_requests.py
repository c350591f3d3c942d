"""The page of what a pod can ask for: every annotation of a wish is on it, and what is refused is refused just so."""

import re

import pytest

from gpuyard import vocabulary
from gpuyard.pods import requests
from gpuyard.verdicts import Rejection
from gpuyard.writes import JSON
from tests.docs.markdown import ROOT
from tests.gpuyard.builders import container, pod

PAGE = (ROOT / "docs/requests.md").read_text("utf-8")
REFUSED = re.findall(r"^\| ([\d.]+) `([^`]+)` \| (?:`([^`:]+): ([^`]+)`)? ?\| (.+) \|$", PAGE, re.MULTILINE)


def asking(count: str, resource: str, annotation: str, text: str) -> JSON:
    found = pod("a", containers=[container("main", {resource: count})])
    found["metadata"]["annotations"] = {annotation: text} if annotation else {}
    return found


def test_every_annotation_by_which_a_pod_wishes_is_there() -> None:
    wishes = (
        *(vocabulary.GPU_MILLI, vocabulary.GPU_MEMORY, vocabulary.GPU_MODEL, vocabulary.MIN_GPU_MEMORY),
        *(vocabulary.TOPOLOGY, vocabulary.TOPOLOGY_POLICY, vocabulary.PREEMPTIBLE, vocabulary.QUEUE),
        *(vocabulary.RUN_SECONDS, vocabulary.EXIT_CODE),
    )
    assert [name for name in wishes if f"`{name}`" not in PAGE] == []


@pytest.mark.parametrize(("count", "resource", "annotation", "text", "said"), REFUSED)
def test_what_is_refused_is_refused_in_these_words(
    count: str, resource: str, annotation: str, text: str, said: str
) -> None:
    found = requests.parse(asking(count, resource, annotation, text))
    assert isinstance(found, Rejection)
    assert found.detail == said


def test_no_line_of_the_table_is_left_out() -> None:
    _, _, table = PAGE.partition("| asks for |")
    assert len(REFUSED) == table.partition("\n\n")[0].count("\n") - 1 > 0
