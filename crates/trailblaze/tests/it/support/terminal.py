"""Runs a program in a terminal of its own. What comes in is typed there, and what it shows goes out.

A byte 0x00 in the input is followed by a line with the number of a signal for the program.
"""

import fcntl
import os
import pty
import select
import struct
import sys
import termios

pid, terminal = pty.fork()
if pid == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))
sources = [terminal, 0]
pending = b""
while True:
    ready, _, _ = select.select(sources, [], [])
    if terminal in ready:
        try:
            shown = os.read(terminal, 65536)
        except OSError:
            shown = b""
        if not shown:
            break
        os.write(1, shown)
    if 0 in ready:
        typed = os.read(0, 65536)
        if not typed:
            sources.remove(0)
        pending += typed
        while pending:
            if pending[0] == 0:
                if b"\n" not in pending:
                    break
                number, pending = pending[1:].split(b"\n", 1)
                os.kill(pid, int(number))
                continue
            keys, zero, rest = pending.partition(b"\0")
            os.write(terminal, keys)
            pending = zero + rest
# A terminal that echoes and waits for whole lines is as it was.
flags = termios.tcgetattr(terminal)[3] if sys.platform == "linux" else termios.ECHO | termios.ICANON
is_restored = bool(flags & termios.ECHO) and bool(flags & termios.ICANON)
os.write(1, b"\n[terminal restored]\n" if is_restored else b"\n[terminal left raw]\n")
_, status = os.waitpid(pid, 0)
sys.exit(os.waitstatus_to_exitcode(status) % 256)
