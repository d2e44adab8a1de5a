"""A child process of the kind given by the first argument. It prints `ready` when it is set up."""

import os
import signal
import sys
import time


def ready():
    os.write(1, b"ready\n")


def forever():
    while True:
        time.sleep(60)


def until_end_of_input():
    while os.read(0, 65536):
        pass


def ignore_term():
    signal.signal(signal.SIGTERM, signal.SIG_IGN)


def echo():
    while data := os.read(0, 65536):
        while data:
            data = data[os.write(1, data):]
    os.write(2, b"end of input\n")


def ends_with(code):
    sys.exit(int(code))


def ends_by(number):
    os.kill(os.getpid(), int(number))
    forever()


def polite():
    ready()
    until_end_of_input()
    sys.exit(7)


def stubborn():
    ignore_term()
    ready()
    forever()


def family():
    """Three generations that all ignore SIGTERM; the first exits at the end of its input."""
    ignore_term()
    up, up_too = os.pipe()
    for _ in range(2):
        if os.fork() == 0:
            os.fork()
            os.write(up_too, b".")
            forever()
    for _ in range(4):
        os.read(up, 1)
    ready()
    until_end_of_input()


def daemon(first="stays"):
    """A classic daemon: its own session, forked twice, its streams closed."""
    up, up_too = os.pipe()
    if os.fork() == 0:
        os.setsid()
        if os.fork() != 0:
            os._exit(0)
        ignore_term()
        null = os.open("/dev/null", os.O_RDWR)
        for number in range(3):
            os.dup2(null, number)
        os.write(up_too, b".")
        forever()
    os.read(up, 1)
    ready()
    if first == "stays":
        until_end_of_input()


def hops():
    """Never the same process for long, and each in its own session."""
    ignore_term()
    generation = 0
    while True:
        if os.fork() != 0:
            if generation == 0:
                until_end_of_input()
            os._exit(0)
        os.setsid()
        generation += 1
        if generation == 5:
            ready()
        time.sleep(0.001)


def stopped():
    if os.fork() == 0:
        os.kill(os.getpid(), signal.SIGSTOP)
        forever()
    os.waitpid(-1, os.WUNTRACED)
    ready()
    until_end_of_input()


def surroundings(*names):
    print(os.getcwd())
    for name in names:
        print(f"{name}={os.environ.get(name)}")


def files():
    """Echoes on 4 what it reads on 3, and reports which other files are open."""
    os.write(4, os.read(3, 100).upper())
    for name in os.listdir("/proc/self/fd"):
        path = f"/proc/self/fd/{name}"
        if int(name) > 4 and os.path.exists(path):
            print(name, os.readlink(path))


globals()[sys.argv[1]](*sys.argv[2:])
