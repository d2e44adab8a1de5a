"""Reads `cargo metadata`, and writes all dependencies of a package in the form of CycloneDX 1.5: sbom.py PACKAGE."""

import json
import sys

data = json.load(sys.stdin)
packages = {package["id"]: package for package in data["packages"]}
nodes = {node["id"]: node for node in data["resolve"]["nodes"]}
root = next(id for id, package in packages.items() if package["name"] == sys.argv[1])


def needed(id: str) -> list[str]:
    # What only tests and build scripts need is not in the program.
    return [dep["pkg"] for dep in nodes[id]["deps"] if any(kind["kind"] is None for kind in dep["dep_kinds"])]


seen, todo = set(), [root]
while todo:
    id = todo.pop()
    if id not in seen:
        seen.add(id)
        todo.extend(needed(id))


def reference(id: str) -> str:
    return f"pkg:cargo/{packages[id]['name']}@{packages[id]['version']}"


def component(id: str) -> dict:
    package = packages[id]
    kind = "application" if id == root else "library"
    licences = [{"expression": package["license"]}] if package["license"] else []
    return {"type": kind, "bom-ref": reference(id), "name": package["name"], "version": package["version"],
            "purl": reference(id), "licenses": licences}


order = sorted(seen - {root}, key=reference)
bom = {
    "bomFormat": "CycloneDX",
    "specVersion": "1.5",
    "version": 1,
    "metadata": {"component": component(root)},
    "components": [component(id) for id in order],
    "dependencies": [{"ref": reference(id), "dependsOn": sorted(map(reference, needed(id)))} for id in [root, *order]],
}
json.dump(bom, sys.stdout, indent=1)
print()
