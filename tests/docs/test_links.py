"""Links in the docs lead somewhere, and code that they name exists."""

from __future__ import annotations

import re
from pathlib import Path

from tables import every_row

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/*.md")])
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_CODE_PATH = re.compile(r"`((?:src|tests|docs|scripts|bench|clients|examples|\.ci)/[\w./-]*)`")
_MODULE_PATH = re.compile(r"`((?:\w+/)+\w+\.(?:py|sql))`")

pages = every_row("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))


@pages
def test_relative_links_lead_to_files_and_headings(page: Path):
    for link in _LINK.findall(page.read_text(encoding="utf-8")):
        if "://" in link or link.startswith("mailto:"):
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        assert target.exists(), f"{link} leads nowhere"
        if anchor:
            assert anchor in _anchors(target), f"{link}: there is no such heading"


@pages
def test_code_that_a_page_names_exists(page: Path):
    text = page.read_text(encoding="utf-8")
    paths = [ROOT / name for name in _CODE_PATH.findall(text)]
    paths += [ROOT / "src" / "lamina" / name for name in _MODULE_PATH.findall(text) if _is_module(name)]
    missing = [str(path.relative_to(ROOT)) for path in paths if not path.exists()]
    assert not missing, f"the page names code that is not there: {missing}"


def test_every_page_is_reachable_from_the_index():
    seen: set[Path] = set()
    queue = [ROOT / "docs" / "README.md"]
    while queue:
        page = queue.pop()
        if page in seen or page.suffix != ".md" or not page.exists():
            continue
        seen.add(page)
        links = _LINK.findall(page.read_text(encoding="utf-8"))
        queue += [(page.parent / link.partition("#")[0]).resolve() for link in links if "://" not in link]
    lost = [str(page.relative_to(ROOT)) for page in (ROOT / "docs").rglob("*.md") if page not in seen]
    assert not lost, f"no page links to these: {lost}"


def _is_module(name: str) -> bool:
    return name.split("/", 1)[0] not in ("src", "tests", "docs", "scripts", "bench", "clients", "examples")


def _anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
