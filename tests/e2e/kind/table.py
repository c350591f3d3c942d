"""What became of each example on each backend."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from gpuyard_cli.scenarios.runner import Outcome


@dataclass
class Table:
    """Example -> backend -> how it went."""

    rows: dict[str, dict[str, str]] = field(default_factory=dict)

    def run(self, name: str, backend: str, how: Callable[[], Outcome]) -> Outcome:
        """Do it and note how it went and how long it took."""
        row = self.rows.setdefault(name, {})
        row[backend] = "error"
        began = time.monotonic()
        outcome = how()
        row[backend] = f"{'pass' if outcome.passed else 'FAIL'} {time.monotonic() - began:5.1f} s"
        return outcome

    def lines(self) -> Iterator[str]:
        backends = ("steps", "embedded", "kind")
        yield f"{'example':<32}" + "".join(f"{backend:<16}" for backend in backends)
        for name, row in sorted(self.rows.items()):
            yield f"{name:<32}" + "".join(f"{row.get(backend, '-'):<16}" for backend in backends)
