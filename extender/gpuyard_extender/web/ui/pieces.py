"""What the page shows, piece by piece, and which pieces changed since a listener last heard.

Stands for the API server's watch cache. Laws: a listener that knows any version gets each piece that it lacks once,
in its newest form, however long it was away, so nothing is kept for one listener; two that know the same version
cost one encoding; pieces that are gone are remembered within bounds, and whoever knows less gets everything anew.
"""

import itertools
from collections.abc import Mapping
from typing import Final

from gpuyard_extender.reporting.packing import packed

SECTIONS: Final = ("nodes", "pods", "groups", "attempts", "cluster")
NOTHING: Final = -1
"""The version of a listener that has heard nothing yet."""
_MOST_GONE: Final = 10_000
_MOST_ANSWERS: Final = 16

Key = tuple[str, str]


class Pieces:
    """JSON by section and key."""

    def __init__(self) -> None:
        self.version = 0
        self._pieces: dict[Key, tuple[int, bytes | None]] = {}
        self._gone: dict[Key, None] = {}
        self._forgotten = 0
        self._answers: dict[int, bytes] = {}

    def put(self, section: str, key: str, content: bytes | None) -> None:
        """A piece as it is now; None: it is gone. `section` is one of SECTIONS."""
        place = (section, key)
        _, before = self._pieces.get(place, (0, None))
        if content == before:
            return
        self.version += 1
        self._answers.clear()
        self._pieces.pop(place, None)  # the newest come last
        self._gone.pop(place, None)
        if content is None:
            self._gone[place] = None
        self._pieces[place] = (self.version, content)
        while len(self._gone) > _MOST_GONE:
            self._forget(next(iter(self._gone)))

    def replace(self, section: str, contents: Mapping[str, bytes]) -> None:
        """All pieces of a small section."""
        gone = [key for (of, key), (_, found) in self._pieces.items() if of == section and found is not None]
        for key in gone:
            if key not in contents:
                self.put(section, key, None)
        for key, content in contents.items():
            self.put(section, key, content)

    def drop(self, section: str, key: str) -> None:
        """Forget a piece without a word: listeners drop it by themselves."""
        if self._pieces.pop((section, key), None):
            self._answers.clear()

    def since(self, version: int) -> bytes | None:
        """`{"v", "reset", section: {key: piece or null}}` for who knows that version; None: there is no news.

        With `reset` what is not there is gone.
        """
        if version == self.version:
            return None
        if version not in self._answers:
            if len(self._answers) >= _MOST_ANSWERS:
                self._answers.clear()
            self._answers[version] = self._told(version)
        return self._answers[version]

    def _told(self, version: int) -> bytes:
        reset = not self._forgotten <= version <= self.version
        latest_first = reversed(self._pieces.items())
        news = itertools.takewhile(lambda item: reset or item[1][0] > version, latest_first)
        sections: dict[str, list[bytes]] = {name: [] for name in SECTIONS}
        for (section, key), (_, content) in news:
            if not (reset and content is None):
                sections[section].append(packed(key) + b":" + (content or b"null"))
        said = [b'"v":%d,"reset":%s' % (self.version, b"true" if reset else b"false")]
        said += [
            b'"%s":{%s}' % (name.encode(), b",".join(reversed(found))) for name, found in sections.items()
        ]
        return b"{" + b",".join(said) + b"}"

    def _forget(self, place: Key) -> None:
        self._forgotten = max(self._forgotten, self._pieces.pop(place)[0])
        del self._gone[place]
