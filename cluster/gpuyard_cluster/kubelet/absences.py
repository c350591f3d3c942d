"""Device plugins that are gone, and until when their devices still count in the node's capacity.

Stands for endpointStopGracePeriod of the kubelet's device manager.
"""

GRACE_SECONDS = 300.0


class Absences:
    """By resource."""

    def __init__(self) -> None:
        self._gone_at: dict[str, float] = {}

    def begin(self, resource: str, now: float) -> None:
        """The resource's plugin is gone."""
        self._gone_at[resource] = now

    def end(self, resource: str) -> None:
        """The resource has a plugin, or is forgotten."""
        self._gone_at.pop(resource, None)

    def over(self, now: float) -> list[str]:
        """The resources whose plugin has been away for too long."""
        return [resource for resource, gone_at in self._gone_at.items() if gone_at + GRACE_SECONDS <= now]

    def next_at(self) -> float | None:
        """When the next one will have been; None when all are there."""
        return min((gone_at + GRACE_SECONDS for gone_at in self._gone_at.values()), default=None)
