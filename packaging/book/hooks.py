"""Changes to the pages of the book: see mkdocs.yml."""

import posixpath
import re
import shutil
from pathlib import Path

from mkdocs.structure.files import File, InclusionLevel

REPOSITORY = Path(__file__).resolve().parents[2]

# What `<!-- setup: … -->` and the like say is for the test that runs the commands of the pages.
DIRECTIVE = re.compile(r"^[ ]*<!--\s*(?:file|exit|output|not run|setup)\b.*?-->[ ]*\n", re.MULTILINE)
# Readers copy these files, so the book has them.
RECIPES = "packaging/ci/"
LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(([^)\s]+)\)")
# What lists everything that a package has is part of the book.
READMES = {
    f"sdks/{package}/README.md": f"packages/{package.replace('/', '-')}.md"
    for package in ("typescript/client", "typescript/scripting", "python", "kotlin")
}
# Search needs this where a page was opened as a file; the theme would load it from another host.
FOREIGN_SHIM = re.compile(r'<script src="https://[^"]*iframe-worker[^"]*"></script>')


def on_files(files, config):
    for path, page in READMES.items():
        content = (REPOSITORY / path).read_text()
        files.append(File.generated(config, page, content=content, inclusion=InclusionLevel.NOT_IN_NAV))
    return files


def on_page_markdown(markdown, page, **_):
    markdown = DIRECTIVE.sub("", markdown)
    return outside_of_code(markdown, lambda text: LINK.sub(lambda link: plain(link, page), text))


def outside_of_code(markdown, change):
    """Applies a change to the parts between fenced blocks."""
    parts = re.split(r"(^ *```.*?^ *```[ ]*$)", markdown, flags=re.MULTILINE | re.DOTALL)
    return "".join(part if index % 2 else change(part) for index, part in enumerate(parts))


def plain(link, page):
    """A link to a file of the repository that is not in the book becomes text, except for recipes, which are copied."""
    text, target = link.groups()
    if "://" in target or target.startswith(("#", "mailto:")):
        return link.group()
    source = next((readme for readme, name in READMES.items() if name == page.file.src_uri), f"docs/{page.file.src_uri}")
    name, hash, anchor = target.partition("#")
    path = posixpath.normpath(posixpath.join(posixpath.dirname(source), name))
    if path in READMES or path.startswith("docs/"):
        to = posixpath.relpath(READMES.get(path, path.removeprefix("docs/")), posixpath.dirname(page.file.src_uri) or ".")
        return f"[{text}]({to}{hash}{anchor})"
    if not (REPOSITORY / path).exists():
        raise FileNotFoundError(f"{page.file.src_uri}: `{target}` does not exist")
    if path.startswith(RECIPES):
        # As HTML: MkDocs would look for the target among its pages.
        return f'<a href="{"../" * page.url.count("/")}assets/ci/{posixpath.basename(path)}">{text}</a>'
    if text.strip("`") in (path, target):
        return f"`{path}`"
    return f"{text} (`{path}`)"


def on_post_page(output, page, config):
    base = "../" * page.url.count("/")
    return FOREIGN_SHIM.sub(f'<script src="{base}assets/worker.js"></script>', output)


def on_post_template(output_content, **_):
    return FOREIGN_SHIM.sub("", output_content)


def on_post_build(config):
    shim = Path(__file__).with_name("worker.js").read_text()
    (Path(config["site_dir"]) / "assets/worker.js").write_text(shim)
    shutil.copytree(REPOSITORY / RECIPES, Path(config["site_dir"]) / "assets/ci", dirs_exist_ok=True)
