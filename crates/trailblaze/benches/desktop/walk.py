"""Walks the tree of the program `window.py` with pyatspi, as dogtail does, and writes how long each walk took, in milliseconds."""

import json
import sys
import time

import pyatspi

file, times = sys.argv[1], int(sys.argv[2])


def program():
    until = time.monotonic() + 30
    while time.monotonic() < until:
        for app in pyatspi.Registry.getDesktop(0):
            if app is not None and "window" in (app.name or ""):
                return app
    sys.exit("window.py is not on the desktop")


def walk(node):
    states = node.getState()
    if node.getRoleName() != "application" and not states.contains(pyatspi.STATE_SHOWING):
        return 0
    _ = node.name, node.description
    try:
        _ = node.queryComponent().getExtents(pyatspi.DESKTOP_COORDS)
    except NotImplementedError:
        pass
    if states.contains(pyatspi.STATE_EDITABLE):
        _ = node.queryText().getText(0, -1)
    return 1 + sum(walk(child) for child in node if child is not None)


app, taken, elements = program(), [], 0
for _ in range(times):
    started = time.perf_counter()
    elements = walk(app)
    taken.append((time.perf_counter() - started) * 1000)
with open(file, "w") as out:
    json.dump({"elements": elements, "millis": taken}, out)
