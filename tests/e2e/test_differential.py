"""Random workloads have one answer; a real scheduler is asked for its own in tests/e2e/kind/test_differential.py."""

from tests.e2e.differential.grounds import embedded
from tests.e2e.differential.walking import both
from tests.e2e.differential.workloads import workload


async def test_embedded_clusters_that_draw_other_numbers_agree() -> None:
    """And the workloads are about something: many pods find a place, others do not, for different reasons."""

    outcomes = []
    async with embedded(seed=1) as one, embedded(seed=2) as other:
        for number in range(4):
            found = await both(one, other, workload(number))
            assert found[0] == found[1], f"workload {number}"
            outcomes += found[0]
    refused = [line.split(": ")[2] for line in outcomes if ": refused: " in line]
    reasons = {node.split()[1] for line in refused for node in line.split(", ")}
    assert len(outcomes) * 2 / 3 > len(refused) > len(reasons) > 2, outcomes
