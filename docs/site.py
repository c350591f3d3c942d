"""Makes a site of the repository's Markdown as it is: what `make docs` tells mkdocs beside mkdocs.yml.

Documents lie beside what they are about, in all folders, and lead to source files and folders. So the site has the
repository's own layout, a page for each source file that a document leads to, and for each folder what is in it.
Law: no list of pages is kept by hand; the navigation is the index docs/README.md.
"""

import os
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.docs.markdown import documents, read  # noqa: E402

INDEX = ROOT / "docs/README.md"
ASSETS = ("docs/*.css", "docs/*.svg", "docs/images/*")
LANGUAGES = {".py": "python", ".yaml": "yaml", ".sh": "bash", ".toml": "toml", ".json": "json"}
_TARGET = re.compile(r"(\]\()([^()\s#]+)(#[^()\s]*)?(\))")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """The navigation, from the sections of the index."""
    examples = [path for path in documents() if path.parent.parent.name == "examples"]
    config.nav = ["README.md", _named(INDEX)]
    config.nav += [{section.title: _once(section.links)} for section in read(INDEX) if section.level == 2]
    config.nav += [{"Examples": [_named(path) for path in examples]}]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """All documents, pictures and styles, what documents lead to, and what the theme brings."""
    found = Files([file for file in files if file.src_dir != config.docs_dir])
    assets = [path for pattern in ASSETS for path in ROOT.glob(pattern)]
    for path in (*documents(), *assets):
        found.append(File(_named(path), str(ROOT), config.site_dir, config.use_directory_urls))
    for path in sorted({target for document in documents() for target in _targets(document)} - {*assets}):
        if not (page := _page(path)).exists():
            found.append(File.generated(config, _named(page), content=_shown(path)))
    return found


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Links that lead to a file or a folder lead to its page."""
    here = ROOT / Path(page.file.src_uri).parent

    def led(link: re.Match[str]) -> str:
        before, target, anchor, after = link.groups(default="")
        path = Path(os.path.normpath(here / target))
        if "://" in target or not path.exists() or path.suffix in (".svg", ".png"):
            return link[0]
        return f"{before}{os.path.relpath(_page(path), here)}{anchor}{after}"

    return (
        markdown if page.file.generated_by else _TARGET.sub(led, markdown)
    )  # a source file is shown as it is


def _targets(page: Path) -> Iterator[Path]:
    for section in read(page):
        for _text, target in section.links:
            path = Path(os.path.normpath(page.parent / target.partition("#")[0]))
            if "://" not in target and path.exists():
                yield path


def _page(path: Path) -> Path:
    """The page of a file or a folder."""
    if path.is_dir():
        return path / "README.md"
    return path if path.suffix == ".md" else path.with_name(f"{path.name}.md")


def _shown(path: Path) -> str:
    if path.is_dir():
        names = sorted(entry.name for entry in path.iterdir() if not entry.name.startswith(("_", ".")))
        return "\n".join([f"# {_named(path)}/", "", *(f"- `{name}`" for name in names)])
    text = path.read_text("utf-8").rstrip("\n")
    return f"# {_named(path)}\n\n````{LANGUAGES.get(path.suffix, 'text')}\n{text}\n````\n"


def _once(links: Iterable[tuple[str, str]]) -> list[str]:
    """The documents that a section leads to, but those that lead the navigation anyway."""
    paths = (Path(os.path.normpath(INDEX.parent / target.partition("#")[0])) for _, target in links)
    return [
        _named(path) for path in dict.fromkeys(paths) if path.suffix == ".md" and path != ROOT / "README.md"
    ]


def _named(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()
