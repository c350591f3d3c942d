"""What an import could not know or keep: each thing once, with everything that it is about."""

from dataclasses import dataclass, field

from gpuyard.narration import few


@dataclass(slots=True)
class Notes:
    """Collected while reading; in the order of their first appearance."""

    _about: dict[str, list[str]] = field(default_factory=dict)

    def add(self, text: str, name: str) -> None:
        """`text` is true of the node or pod with this name."""
        self._about.setdefault(text, []).append(name)

    def lines(self) -> list[str]:
        """One line for each text."""
        return [f"{text}: {few(names)}" for text, names in self._about.items()]
