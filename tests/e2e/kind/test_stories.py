"""The stories that are played on embedded, on a real cluster."""

import pytest

from tests.e2e.kind.cluster import play
from tests.e2e.stories.stories import STORIES, Story


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.__name__)
def test_on_a_real_cluster(story: Story, kubeconfig: str) -> None:
    play(kubeconfig, f"story-{STORIES.index(story)}", story)
