"""Time that a test moves by hand."""

from gpuyard_cluster.clock import Steps


def settle(steps: Steps, until: float | None = None) -> None:
    """Do everything that is due; with `until`, also what becomes due up to that moment."""
    for _ in range(20_000):
        if steps.step() is not None:
            continue
        following = steps.next_at()
        if until is None or following is None or following > until:
            if until is not None and until > steps.steady():
                steps.advance_to(until)
            return
        steps.advance_to(following)
    raise AssertionError("does not settle")
