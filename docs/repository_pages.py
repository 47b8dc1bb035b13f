"""A hook of mkdocs: what stands outside of docs/ and belongs to the site comes into it, and links follow.

The README's is the first page; the changelog, the page on security and the examples have one each. Links are
written for the repository. Those to files that have no page become the file's name, as the site does not know
where the repository is; those to nothing stay, so that the strict build fails. And the theme's script, which
would fetch others for very old browsers and for a kind of diagram that no page has, fetches none.
"""

from __future__ import annotations

import os
import re
from pathlib import Path, PurePosixPath
from typing import Any

ROOT = Path(__file__).parents[1]
PAGES = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    **{
        f"examples/{name}/README.md": f"examples/{name}.md"
        for name in ("access", "ad-exchange", "newsroom", "stream")
    },
}
"""What comes in from outside of docs/, and as which page."""

_SOURCES = {page: source for source, page in PAGES.items()}
_FETCHED = re.compile(r"https://unpkg\.com/[^\"'`]*")
_PICTURE = re.compile(r'(<img [^>]*src=")docs/')
_FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\((?!\w+:)([^)#\s]+)(#[^)]*)?\)")


def on_files(files: Any, config: Any) -> Any:
    """Add the pages from outside of docs/."""
    from mkdocs.structure.files import File  # the rest of this file is tested where mkdocs is not

    for source, page in PAGES.items():
        files.append(File.generated(config, page, content=(ROOT / source).read_text()))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Let links lead within the site, and sessions be coloured as such."""
    here = page.file.src_uri
    text, pieces, end = markdown, [], 0
    for fence in _FENCE.finditer(text):
        pieces += [_with_links(text[end : fence.start()], here), _as_session(fence[0])]
        end = fence.end()
    return "".join([*pieces, _with_links(text[end:], here)])


def on_post_build(config: Any) -> None:
    """Take out what the theme would fetch from elsewhere."""
    for script in Path(config.site_dir, "assets", "javascripts").glob("bundle.*.min.js"):
        script.write_text(_FETCHED.sub("", script.read_text()))
        script.with_name(f"{script.name}.map").unlink(missing_ok=True)


def _as_session(fence: str) -> str:
    return fence.replace("```python\n>>> ", "```pycon\n>>> ", 1)


def _with_links(text: str, here: str) -> str:
    source = _SOURCES.get(here, f"docs/{here}")

    def followed(link: re.Match[str]) -> str:
        picture, shown, target, anchor = link.groups()
        place = os.path.normpath(PurePosixPath(source).parent / target)
        page = PAGES.get(place, place.removeprefix("docs/") if place.startswith("docs/") else None)
        if page is not None:
            return f"{picture}[{shown}]({os.path.relpath(page, PurePosixPath(here).parent)}{anchor or ''})"
        if not (ROOT / place).exists():
            return link[0]
        return f"`{place}`" if shown.strip("`/") in place else f"{shown} (`{place}`)"

    return _PICTURE.sub(r"\1", _LINK.sub(followed, text))
