"""The pages of docs/reference, made of what the code says: names, reason codes, GPUs, resources, metrics, commands.

After a change of those: `.venv/bin/python -m tests.docs.reference` writes the pages anew; a test holds them to it.
"""

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from gpuyard import vocabulary
from gpuyard.auditing.findings import Flaw
from gpuyard.hardware import models, presets
from gpuyard.hardware.boards import Board
from gpuyard.verdicts import Reason
from tests.docs import reference_programs
from tests.docs.markdown import ROOT, table

FOLDER = ROOT / "docs/reference"
NOTE = "<!-- made by: .venv/bin/python -m tests.docs.reference -->"

Page = Callable[[], Iterator[str]]


def names() -> Iterator[str]:
    """Constants of the vocabulary, by its own sections; a text below several constants is about all of them."""
    yield from [
        "# Names",
        "",
        "Every annotation, label, resource and name that passes between parts, or between them and people, as",
        "[`vocabulary.py`](../../gpuyard/vocabulary.py) has them.",
    ]
    text = Path(vocabulary.__file__).read_text("utf-8")
    titles = {number: line.removeprefix("# --- ") for number, line in enumerate(text.splitlines(), 1)}
    titles = {number: title for number, title in titles.items() if title != text.splitlines()[number - 1]}
    for title, rows in _sections(ast.parse(text).body, titles):
        yield from ["", f"## {title[0].upper()}{title[1:]}", ""]
        yield from table(("name", "constant", "what"), rows)


def _sections(
    body: Sequence[ast.stmt], titles: Mapping[int, str]
) -> Iterator[tuple[str, list[Sequence[str]]]]:
    found: dict[str, list[list[str]]] = {}
    title, undescribed = "The API group", list[list[str]]()
    for node in body:
        begun = [text for line, text in titles.items() if line < node.lineno]
        if begun and begun[-1] != title:
            title, undescribed = begun[-1], []
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            row = [f"`{getattr(vocabulary, node.target.id)}`", f"`{node.target.id}`", ""]
            found.setdefault(title, []).append(row)
            undescribed.append(row)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and undescribed:
            for row in undescribed:
                row[2] = " ".join(str(node.value.value).split())
            undescribed = []
    return iter((title, [tuple(row) for row in rows]) for title, rows in found.items())


def reasons() -> Iterator[str]:
    """The two closed lists of codes."""
    yield from ["# Reason codes", ""]
    yield "Why a pod or a gang waits: the same in events, conditions and `gpuyard explain`."
    yield from ["", *table(("code", "means", "what has to change"), _reasons())]
    yield from [
        "",
        "## Findings of an audit",
        "",
        "What `gpuyard audit` finds, and what each scenario is to end without.",
        "",
    ]
    yield from table(("code", "means"), ((f"`{flaw.value}`", flaw.text) for flaw in Flaw))


def _reasons() -> Iterator[Sequence[str]]:
    for reason in Reason:
        yield f"`{reason.value}`", reason.text.partition(": ")[2], reason.change


def gpus() -> Iterator[str]:
    """What a yard can be made of, and which resources it then offers."""
    yield from [
        "# GPUs, machines and resources",
        "",
        "A node offers `nvidia.com/gpu` for whole GPUs; for shares the same, or `nvidia.com/gpu.shared` where its",
        "configuration renames them; with `migStrategy: mixed` or `dynamic` instances as `nvidia.com/mig-PROFILE`.",
        "",
        "## Models",
        "",
        *table(("model in yard.yaml", "memory, MiB", "compute capability", "MIG"), _models()),
        "",
        "## Machines",
        "",
        "Nodes by name: `preset` in yard.yaml, `gpuyard up --preset`, `--add-nodes`.",
        "",
        *table(
            ("preset", "what"), ((f"`{found.name}`", found.about) for found in presets.presets().values())
        ),
    ]
    for board in dict.fromkeys(filter(None, (model.board for model in models.MODELS))):
        yield from ["", f"## MIG of {', '.join(board.product_names)}", ""]
        yield from table(
            ("resource", "most of them", "memory slices", "may start at slice"), _profiles(board)
        )


def _models() -> Iterator[Sequence[str]]:
    for model in models.MODELS:
        compute = ".".join(map(str, model.compute))
        yield f"`{model.product}`", str(model.memory_mib), compute, "yes" if model.board else "no"


def _profiles(board: Board) -> Iterator[Sequence[str]]:
    for found in board.profiles:
        starts = ", ".join(str(start) for start, _ in found.placements)
        sizes = str(found.memory_slices)
        yield f"`{vocabulary.mig_resource(found.name)}`", str(found.max_instances), sizes, starts


def definitions() -> Iterator[str]:
    """The fields of our custom resources, from their schemas."""
    yield from ["# Custom resources", ""]
    yield "Made by `kubectl apply -f manifests/crds/`; the embedded cluster has them from the start."
    for path in sorted((ROOT / "manifests/crds").glob("*.yaml")):
        spec = yaml.safe_load(path.read_text("utf-8"))["spec"]
        names, [version] = spec["names"], spec["versions"]
        schema = version["schema"]["openAPIV3Schema"]
        known = ", ".join(f"`{name}`" for name in (names["plural"], *names.get("shortNames", ())))
        yield from ["", f"## {names['kind']}", "", schema.get("description", ""), ""]
        yield f"`{spec['group']}/{version['name']}`, {spec['scope'].lower()}; kubectl knows {known}."
        yield from ["", *table(("field", "type", "what"), _fields(schema, ""))]


def _fields(schema: Mapping[str, Any], path: str) -> Iterator[Sequence[str]]:
    needed = schema.get("required", ())
    for name, field in schema.get("properties", {}).items():
        if not path and name in ("apiVersion", "kind", "metadata"):
            continue
        place, inner = f"{path}.{name}".lstrip("."), field
        kind = _type(field) + (", required" if name in needed else "")
        yield f"`{place}`", kind, " ".join(str(field.get("description", "")).split())
        while inner.get("type") == "array":
            place, inner = f"{place}[]", inner["items"]
        yield from _fields(inner, place)


def _type(field: Mapping[str, Any]) -> str:
    if field.get("type") == "array":
        return f"list of {_type(field['items'])}"
    if field.get("type") == "object" and isinstance(field.get("additionalProperties"), dict):
        return f"map of {_type(field['additionalProperties'])}"
    if field.get("x-kubernetes-int-or-string") or "anyOf" in field:
        return "quantity"
    limits = [
        f"{word} {field[key]}"
        for key, word in (("minimum", "at least"), ("maximum", "at most"))
        if key in field
    ]
    choices = [f"one of {', '.join(map(str, field['enum']))}"] if "enum" in field else []
    return ", ".join([field.get("format", field.get("type", "any")), *choices, *limits])


PAGES: Mapping[str, Page] = {
    "names.md": names,
    "reason-codes.md": reasons,
    "gpus.md": gpus,
    "custom-resources.md": definitions,
    "metrics.md": reference_programs.metrics,
    "commands.md": reference_programs.commands,
}


def text(page: Page) -> str:
    """What the file holds."""
    first, *rest = page()
    return "\n".join([first, "", NOTE, *rest, ""])


def stale(pages: Iterable[str] = PAGES) -> list[str]:
    """Pages that say something else than the code."""
    files = {name: FOLDER / name for name in pages}
    return [
        name
        for name, file in files.items()
        if not file.exists() or file.read_text("utf-8") != text(PAGES[name])
    ]


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, page in PAGES.items():
        (FOLDER / name).write_text(text(page), "utf-8")
