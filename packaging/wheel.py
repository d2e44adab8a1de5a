"""Writes the wheel of sdks/python with the program inside: wheel.py PROGRAM VERSION TAG FOLDER."""

import base64
import hashlib
import pathlib
import sys
import tomllib
import zipfile

program, version, tag, folder = sys.argv[1:]
root = pathlib.Path("sdks/python")
project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
stem = f"trailblaze-{version}"
info = f"{stem}.dist-info"

metadata = [
    "Metadata-Version: 2.4",
    f"Name: {project['name']}",
    f"Version: {version}",
    f"Summary: {project['description']}",
    f"License-Expression: {project['license']}",
    f"Requires-Python: {project['requires-python']}",
    f"Keywords: {','.join(project['keywords'])}",
    *(f"Classifier: {classifier}" for classifier in project["classifiers"]),
    "Description-Content-Type: text/markdown",
    "",
    (root / "README.md").read_text(),
]
tags = [f"Tag: py3-none-{one}" for one in tag.split(".")]
entry_points = "".join(
    f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in entries.items())
    for group, entries in project.get("entry-points", {}).items()
)
files = {str(file.relative_to(root / "src")): file.read_bytes() for file in sorted((root / "src/trailblaze").rglob("*"))
         if file.is_file() and "__pycache__" not in file.parts}
files[f"{stem}.data/scripts/trailblaze"] = pathlib.Path(program).read_bytes()
files[f"{info}/METADATA"] = "\n".join(metadata).encode()
files[f"{info}/WHEEL"] = "\n".join(["Wheel-Version: 1.0", "Generator: trailblaze", "Root-Is-Purelib: false", *tags, ""]).encode()
files[f"{info}/entry_points.txt"] = entry_points.encode()
files[f"{info}/licenses/LICENSE"] = (root / "LICENSE").read_bytes()

record = []
wheel = pathlib.Path(folder) / f"{stem}-py3-none-{tag}.whl"
with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
    def add(name: str, data: bytes) -> None:
        # The same date always, so that the same files make the same wheel.
        entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
        entry.compress_type = zipfile.ZIP_DEFLATED
        entry.external_attr = (0o100755 if "/scripts/" in name else 0o100644) << 16
        archive.writestr(entry, data)

    for name, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record.append(f"{name},sha256={digest},{len(data)}")
        add(name, data)
    add(f"{info}/RECORD", "\n".join([*record, f"{info}/RECORD,,", ""]).encode())
