"""What users of device plugins reported in public, on a real kubelet; embedded plays the same stories."""

import pytest

from tests.e2e.kind.cluster import play
from tests.e2e.stories.stories import REPORTS, Story


@pytest.mark.parametrize("story", REPORTS, ids=lambda story: story.__name__)
def test_on_a_real_cluster(story: Story, kubeconfig: str) -> None:
    play(kubeconfig, f"report-{REPORTS.index(story)}", story)
