"""How many tokens that nobody knows may be tried from one address.

Stands for the throttle of a log-in page. Law: whoever guesses is slowed down, and costs the API server no more than
so many reviews; who has shown a good token, or comes from elsewhere, does not feel it.
"""

from typing import Final

SECONDS: Final = 60.0
MOST: Final = 10
"""So many in that time."""
MOST_ADDRESSES: Final = 1024
"""Whoever comes from ever other addresses makes us forget, not grow."""


class Attempts:
    """The tokens that were refused, by address."""

    def __init__(self) -> None:
        self._refused: dict[str, tuple[float, int]] = {}
        """Until when they count, and how many there were."""

    def exhausted(self, address: str, now: float) -> bool:
        """Whether no more may be tried from there for now."""
        return self._count(address, now)[1] >= MOST

    def refused(self, address: str, now: float) -> None:
        """One was tried in vain."""
        until, count = self._count(address, now)
        if len(self._refused) >= MOST_ADDRESSES:
            self._refused.clear()
        self._refused[address] = (until, count + 1)

    def _count(self, address: str, now: float) -> tuple[float, int]:
        until, count = self._refused.get(address, (0.0, 0))
        return (until, count) if now < until else (now + SECONDS, 0)
