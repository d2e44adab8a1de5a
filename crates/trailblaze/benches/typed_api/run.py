#!/usr/bin/env python3
"""What a call of the typed API costs: our clients beside grpcio and connect-node on the same server, and the server beside one in
Python. Prints a table. Needs what `scripts/parts` installs, and `cargo build --release -p trailblaze` or TRAILBLAZE_BIN."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from urllib.request import Request, urlopen

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[3]
PARTS = (ROOT / ".parts").resolve()
BIN = PARTS / "node/node_modules/.bin"
TRAILBLAZE = os.environ.get("TRAILBLAZE_BIN", ROOT / "target/release/trailblaze")
# How many processes of each client are measured, and how often the servers are loaded, in turns.
ROUNDS, LOADS = 7, 5

PYTHON = [
    # what, the client that is measured, the one it is compared with, the times, the goal
    ("hasText", "sdk", "grpcio", ["hasTextMs"], "≤ 1.5 ×"),
    ("tap", "sdk", "grpcio", ["tapMs"], "≤ 1.5 ×"),
    ("hasText", "sdk-async", "grpcio-async", ["hasTextMs"], "≤ 1.5 ×"),
    ("tap", "sdk-async", "grpcio-async", ["tapMs"], "≤ 1.5 ×"),
    ("import", "sdk", "grpcio", ["importMs"], "≤ 0.5 ×"),
    ("import", "sdk-async", "grpcio-async", ["importMs"], "≤ 0.5 ×"),
    ("import + first call", "sdk", "grpcio", ["importMs", "firstMs"], "< 100 ms"),
    ("import + first call", "sdk-async", "grpcio-async", ["importMs", "firstMs"], "< 100 ms"),
    ("captureScreen", "sdk", "grpcio", ["screenMs"], "< 2 ms"),
]
TYPESCRIPT = [
    ("hasText", "sdk", "connect", ["hasTextMs"], "≤ 0.5 ×"),
    ("tap", "sdk", "connect", ["tapMs"], "≤ 0.5 ×"),
    ("hasText", "sdk", "grpc", ["hasTextMs"], "≤ 0.5 ×"),
    ("tap", "sdk", "grpc", ["tapMs"], "≤ 0.5 ×"),
    ("import", "sdk", "connect", ["importMs"], ""),
    ("import + first call", "sdk", "connect", ["importMs", "firstMs"], "< 40 ms"),
    ("captureScreen", "sdk", "connect", ["screenMs"], "< 2 ms"),
]


def main(folder, asked):
    print(f"{'what':<58} {'measured':>12} {'against':>12} {'ratio':>6}   {'goal':<10} met")
    if not asked or "python" in asked:
        compare("python", PYTHON, lambda way: python("client.py", "sdks/python/src" if way.startswith("sdk") else None))
    if not asked or "typescript" in asked:
        lay_out(folder)
        for runtime in ["node", "bun"]:
            compare(runtime, TYPESCRIPT, lambda way: ([BIN / runtime, folder / "client.mjs"], None))
    if not asked or "load" in asked:
        load(folder)


def lay_out(folder):
    """Our client as it is published, and connect-node."""
    (folder / "package.json").write_text('{"type": "module"}')
    shutil.copy(HERE / "client.mjs", folder)
    (folder / "node_modules").symlink_to(PARTS / "connect/node_modules")
    (folder / "gen").symlink_to(PARTS / "peers/es/gen")
    config = ROOT / "sdks/typescript/client/tsconfig.build.json"
    # It says that the types of node are missing, which are not needed here.
    command = [BIN / "node", BIN / "tsc", "-p", config, "--noCheck", "--declaration", "false", "--outDir", folder / "dist"]
    subprocess.run(command, stdout=subprocess.DEVNULL)


def compare(language, lines, command_of):
    ways = list(dict.fromkeys(way for line in lines for way in line[1:3]))
    runs = {way: [] for way in ways}
    with serve() as (address, key):
        for _ in range(ROUNDS):
            for way in ways:
                command, env = command_of(way)
                output = subprocess.run([*command, way, address, key], env=env, stdout=subprocess.PIPE, check=True)
                runs[way].append(json.loads(output.stdout))
    for what, own, peer, keys, goal in lines:
        times = [median(sum(run[key] for key in keys) for run in runs[way]) for way in (own, peer)]
        row(f"{language}: {what}, {own} | {peer}", *times, "ms", goal)


def load(folder):
    subprocess.run(["go", "build", "-o", folder / "load", HERE / "load.go"], check=True)
    command, env = python("server.py")
    with serve() as (address, key), running(command, env=env) as peer:
        rates = {address: [], peer.strip(): []}
        for _ in range(LOADS):
            for server, measured in rates.items():
                measured.append(float(subprocess.check_output([folder / "load", server, key])))
    own, peer = rates.values()
    row("hasText on 8 connections, the first 2 s | grpc-python", own[0], peer[0], "/s", "≥ 5 ×")
    row("hasText on 8 connections | grpc-python", median(own), median(peer), "/s", "≥ 5 ×")


def row(what, own, peer, unit, goal):
    sign, number, of = goal.split() if goal else ("", 0, "")
    value = own / peer if of == "×" else own
    is_met = value >= float(number) if sign == "≥" else value <= float(number)
    met = ["no", "yes"][is_met] if goal else ""
    digits = 0 if unit == "/s" else 1 if own > 10 else 3
    own_text, peer_text = f"{own:.{digits}f} {unit}", f"{peer:.{digits}f} {unit}"
    print(f"{what:<58} {own_text:>12} {peer_text:>12} {own / peer:>6.2f}   {goal:<10} {met}", flush=True)


def python(script, modules=None):
    """A script of this folder, with our package or the stubs of grpcio."""
    env = {**os.environ, "PYTHONPATH": str(ROOT / modules if modules else PARTS / "peers/grpcio")}
    return [PARTS / "grpc/bin/python", HERE / script], env


@contextmanager
def running(command, **options):
    """A server that ends with its stdin, and its first line."""
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, **options) as server:
        yield server.stdout.readline()
        server.stdin.close()


@contextmanager
def serve():
    """A simulated phone with the sign-in screen of the wallet."""
    with tempfile.TemporaryDirectory() as project:
        Path(project, "trailblaze.yaml").write_text("devices: [{id: android/sim-1}]\n")
        command = [TRAILBLAZE, "serve", "-d", "android/sim-1", "--json", "--until-stdin-closes"]
        with running(command, cwd=project, stderr=subprocess.DEVNULL) as line:
            shown = json.loads(line)
            address, key = shown["address"], Path(shown["keyFile"]).read_text().strip()
            launch = Request(f"{address}/trailblaze.v1.TrailblazeCommands/LaunchApp", b'{"packageId": "com.example.wallet"}')
            launch.headers = {"Authorization": f"Bearer {key}", "Content-type": "application/json"}
            urlopen(launch).read()
            yield address, key


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        main(Path(name), sys.argv[1:])
