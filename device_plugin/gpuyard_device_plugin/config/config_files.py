"""Which of several configurations a node gets.

Stands for NVIDIA's config-manager, which follows the node's label nvidia.com/device-plugin.config. Without the label
it is the file named `default`, else the only one there is, else none.
"""

from collections.abc import Mapping
from pathlib import Path

from gpuyard import vocabulary

DEFAULT = "default"


class SetupError(Exception):
    """Settings cannot be used; the text is one line for the user."""


def chosen(configured: Path | None, labels: Mapping[str, str]) -> Path | None:
    """The file for a node with these labels; `configured` is a file, a folder of them, or nothing.

    SetupError when the label names none.
    """
    name = labels.get(vocabulary.PLUGIN_CONFIG)
    if configured is not None and not configured.is_dir():
        return configured
    files = {} if configured is None else {path.name: path for path in files_of(configured)}
    if name is not None and name not in files:
        known = ", ".join(sorted(files)) or "none"
        raise SetupError(
            f"{vocabulary.PLUGIN_CONFIG}: there is no configuration {name!r}; set the node's label to one of: {known}"
        )
    if name is None:
        name = DEFAULT if DEFAULT in files or len(files) != 1 else next(iter(files))
    return files.get(name)


def files_of(folder: Path) -> list[Path]:
    """The configurations of a folder. A mounted ConfigMap has its versions beside them, under names that begin so."""
    return sorted(path for path in folder.iterdir() if path.is_file() and not path.name.startswith(".."))
