"""A program with a window whose tree over AT-SPI is what a file says, however large or slow. Needs nothing but Python.

    accessible.py FILE

The file is JSON: {"title": ..., "slow": seconds for each answer, "elements": [{"role": "button", "name": ..., "id": ..., "times": 100,
"width": ..., "height": ..., "elements": [...]}, ...]}. `{n}` in a name is the number of a repeated element. Pressing a button changes the name
of the element with the id `status`.
"""

import json
import os
import socket
import struct
import sys
import time

ROLES = {"window": 23, "label": 29, "list": 31, "item": 32, "panel": 39, "button": 43, "field": 79}
ACCESSIBLE, ACTION, APPLICATION = "org.a11y.atspi.Accessible", "org.a11y.atspi.Action", "org.a11y.atspi.Application"
PROPERTIES = "org.freedesktop.DBus.Properties"
PREFIX = "/org/a11y/atspi/accessible/"
FOCUSED, SHOWN, EDITABLE = 12, [8, 24, 25, 30], 7
SIZE = (800, 600)


class Element:
    def __init__(self, entry, parent, index, number, place):
        self.role, self.name = ROLES[entry["role"]], entry.get("name", "").replace("{n}", str(number))
        self.id, self.parent, self.index, self.place, self.children = entry.get("id", ""), parent, index, place, []
        self.states = SHOWN + ([EDITABLE] if entry["role"] == "field" else [])
        self.path = ""


def build(description):
    """All elements by their paths; the window is the first."""
    elements = {}

    def add(entry, parent, number, place):
        element = Element(entry, parent, len(parent.children) if parent else 0, number, place)
        element.path = f"{PREFIX}{len(elements) + 1}"
        elements[element.path] = element
        if parent:
            parent.children.append(element)
        fill(entry.get("elements", []), element)

    def fill(entries, parent):
        left, top, width, height = parent.place
        x = y = line = 0
        for entry in entries:
            own = entry.get("width", width), entry.get("height", 24)
            for number in range(1, entry.get("times", 1) + 1):
                if x and x + own[0] > width:
                    x, y, line = 0, y + line, 0
                # A list goes on below its end, and what is there is not shown.
                beyond = parent.role == ROLES["list"] and y + own[1] > height
                line = max(line, own[1])
                add(entry, parent, number, (left + x, top + y, *own))
                if beyond:
                    parent.children[-1].states = [8, 24]
                x += own[0]

    window = {"role": "window", "name": description["title"], "elements": description["elements"]}
    add(window, None, 0, (0, 0, *SIZE))
    return elements


# D-Bus: what is written, and what is read.


def pad(out, size):
    out.extend(bytes(-len(out) % size))


def split(signature):
    """The first complete type of a signature, and the rest."""
    if signature[0] == "a":
        first, rest = split(signature[1:])
        return "a" + first, rest
    if signature[0] == "(":
        depth = 0
        for end, sign in enumerate(signature):
            depth += {"(": 1, ")": -1}.get(sign, 0)
            if depth == 0:
                return signature[: end + 1], signature[end + 1 :]
    return signature[0], signature[1:]


def write(out, signature, values):
    for value in values:
        kind, signature = split(signature)
        if kind in "uib":
            pad(out, 4)
            out += struct.pack("<i" if kind == "i" else "<I", value)
        elif kind in "so":
            pad(out, 4)
            text = value.encode()
            out += struct.pack("<I", len(text)) + text + b"\0"
        elif kind == "g":
            out += bytes([len(value)]) + value.encode() + b"\0"
        elif kind == "v":
            write(out, "g", [value[0]])
            write(out, value[0], [value[1]])
        elif kind[0] == "(":
            pad(out, 8)
            write(out, kind[1:-1], value)
        else:
            pad(out, 4)
            at = len(out)
            out += bytes(4)
            if kind[1] == "(":
                pad(out, 8)
            start = len(out)
            for item in value:
                write(out, kind[1:], [item])
            out[at : at + 4] = struct.pack("<I", len(out) - start)


def message(kind, serial, fields, signature="", values=()):
    body = bytearray()
    write(body, signature, values)
    if signature:
        fields = [*fields, (8, ("g", signature))]
    out = bytearray(b"l" + bytes([kind, 0, 1]))
    write(out, "uu", [len(body), serial])
    write_fields(out, fields)
    pad(out, 8)
    return bytes(out + body)


def write_fields(out, fields):
    at = len(out)
    out += bytes(4)
    start = len(out)
    for code, value in fields:
        pad(out, 8)
        out.append(code)
        write(out, "v", [value])
    out[at : at + 4] = struct.pack("<I", len(out) - start)


def read_message(data):
    """The kind, the serial, the fields, the body, and the length of the first message; nothing if it is not complete."""
    if len(data) < 16:
        return None
    kind = data[1]
    length, serial, fields_length = struct.unpack_from("<III", data, 4)
    start = 16 + fields_length + -fields_length % 8
    if len(data) < start + length:
        return None
    fields, at = {}, 16
    while at < 16 + fields_length:
        at += -at % 8
        code, sign = data[at], chr(data[at + 2])
        at += 4
        if sign == "g":
            size = data[at]
            fields[code] = data[at + 1 : at + 1 + size].decode()
            at += size + 2
        else:
            at += -at % 4
            (size,) = struct.unpack_from("<I", data, at)
            fields[code] = data[at + 4 : at + 4 + size].decode() if sign in "so" else size
            at += size + 5 if sign in "so" else 4
    return kind, serial, fields, data[start : start + length], start + length


def texts_of(body):
    """The texts at the beginning of a body."""
    found, at = [], 0
    while at + 4 <= len(body):
        at += -at % 4
        (size,) = struct.unpack_from("<I", body, at)
        if at + 4 + size >= len(body) + 1:
            break
        found.append(body[at + 4 : at + 4 + size].decode(errors="replace"))
        at += size + 5
    return found


class Bus:
    def __init__(self, address):
        keys = dict(pair.split("=", 1) for pair in address.split(":", 1)[1].split(","))
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(keys.get("path") or "\0" + keys["abstract"])
        self.socket.sendall(b"\0AUTH EXTERNAL " + str(os.getuid()).encode().hex().encode() + b"\r\n")
        assert self.socket.recv(4096).startswith(b"OK")
        self.socket.sendall(b"BEGIN\r\n")
        self.data, self.serial = bytearray(), 0
        bus = "org.freedesktop.DBus"
        self.name = texts_of(self.call(bus, "/org/freedesktop/DBus", bus, "Hello"))[0]

    def messages(self):
        while True:
            found = read_message(self.data)
            if found is None:
                more = self.socket.recv(1 << 20)
                if not more:
                    return
                self.data += more
                continue
            del self.data[: found[4]]
            yield found

    def call(self, destination, path, interface, member, signature="", values=()):
        self.serial += 1
        fields = [(1, ("o", path)), (2, ("s", interface)), (3, ("s", member)), (6, ("s", destination))]
        self.socket.sendall(message(1, self.serial, fields, signature, values))
        for kind, _, fields, body, _ in self.messages():
            if kind in (2, 3) and fields.get(5) == self.serial:
                assert kind == 2, texts_of(body)
                return body

    def answer(self, serial, to, signature="", values=()):
        self.serial += 1
        self.socket.sendall(message(2, self.serial, [(5, ("u", serial)), (6, ("s", to))], signature, values))

    def refuse(self, serial, to):
        self.serial += 1
        error = "org.freedesktop.DBus.Error.UnknownMethod"
        self.socket.sendall(message(3, self.serial, [(5, ("u", serial)), (6, ("s", to)), (4, ("s", error))]))


class Program:
    def __init__(self, bus, description):
        self.bus, self.title = bus, description["title"]
        self.elements = build(description)
        self.window = next(iter(self.elements.values()))
        self.slow = description.get("slow", 0)
        # The window has the keys as soon as it is there.
        next((one for one in self.elements.values() if one.role == ROLES["field"]), self.window).states.append(FOCUSED)

    def reference(self, element):
        return (self.bus.name, element.path if element else PREFIX + "root")

    def serve(self):
        for kind, serial, fields, body, _ in self.bus.messages():
            if kind != 1:
                continue
            if self.slow:
                time.sleep(self.slow)
            found = self.result(fields, body)
            if found is None:
                self.bus.refuse(serial, fields[7])
            else:
                self.bus.answer(serial, fields[7], *found)

    def result(self, fields, body):
        """The signature and the values that a call returns; nothing if there is no such method."""
        path, member, element = fields[1], fields[3], self.elements.get(fields[1])
        if element is None and path != PREFIX + "root":
            return None
        if fields.get(2) == PROPERTIES:
            return self.property(element, texts_of(body)[1]) if member == "Get" else ("", ())
        children = element.children if element else [self.window]
        if member == "GetChildren":
            return "a(so)", [[self.reference(child) for child in children]]
        if member == "GetRole":
            return "u", [element.role if element else 75]
        if member == "GetState":
            bits = sum(1 << state for state in (element.states if element else SHOWN))
            return "au", [[bits & 0xFFFFFFFF, bits >> 32]]
        if element is None:
            return None
        if member == "GetExtents":
            return "(iiii)", [element.place]
        if member == "GetChildAtIndex":
            return "(so)", [self.reference(children[struct.unpack("<i", body)[0]])]
        if member == "GetAccessibleAtPoint":
            x, y, _ = struct.unpack("<iiI", body)
            at = [one for one in children if self.holds(one.place, x, y) and 25 in one.states]
            return "(so)", [self.reference(at[0]) if at else ("", PREFIX + "null")]
        if member == "GetIndexInParent":
            return "i", [element.index]
        if element.role == ROLES["button"] and member == "GetActions":
            return "a(sss)", [[("click", "", "")]]
        if element.role == ROLES["button"] and member == "DoAction":
            for status in self.elements.values():
                if status.id == "status":
                    status.name = f"{element.name} was pressed"
            return "b", [1]
        return None

    def property(self, element, name):
        values = {
            "Name": ("s", element.name if element else self.title),
            "Description": ("s", ""),
            "AccessibleId": ("s", element.id if element else ""),
            "ChildCount": ("i", len(element.children) if element else 1),
            "Parent": ("(so)", self.reference(element.parent if element else None)),
            "ToolkitName": ("s", "a test"),
            "Version": ("s", "1"),
            "CharacterCount": ("i", 0),
        }
        return ("v", [values[name]]) if name in values else None

    @staticmethod
    def holds(place, x, y):
        left, top, width, height = place
        return left <= x < left + width and top <= y < top + height


def show_window(title):
    """A window in the upper left corner of the X server. Returns its connection, which keeps it open."""
    number = os.environ["DISPLAY"].split(":")[1].split(".")[0]
    with open(os.environ["XAUTHORITY"], "rb") as file:
        cookie = file.read()[-16:]
    x = socket.socket(socket.AF_UNIX)
    x.connect(f"/tmp/.X11-unix/X{number}")
    name = b"MIT-MAGIC-COOKIE-1"
    x.sendall(struct.pack("<BxHHHHxx", ord("l"), 11, 0, len(name), len(cookie)) + name + bytes(2) + cookie)
    head = exactly(x, 8)
    assert head[0] == 1, "the X server refuses"
    setup = exactly(x, 4 * struct.unpack_from("<H", head, 6)[0])
    (base,) = struct.unpack_from("<I", setup, 4)
    vendor, formats = struct.unpack_from("<H", setup, 16)[0], setup[21]
    screen = 32 + vendor + -vendor % 4 + 8 * formats
    root, _, white = struct.unpack_from("<III", setup, screen)
    pid_name = b"_NET_WM_PID"
    x.sendall(struct.pack("<BBHHxx", 16, 0, 2 + 3, len(pid_name)) + pid_name + bytes(1))
    (pid_atom,) = struct.unpack_from("<I", exactly(x, 32), 8)
    window, text = base + 1, title.encode("latin-1")
    create = struct.pack("<BBHIIhhHHHHIII", 1, 0, 9, window, root, 0, 0, *SIZE, 0, 0, 0, 1 << 1, white)
    x.sendall(create)

    def set_property(atom, kind, size, data, count):
        padding = bytes(-len(data) % 4)
        length = 6 + (len(data) + len(padding)) // 4
        x.sendall(struct.pack("<BBHIIIBxxxI", 18, 0, length, window, atom, kind, size, count) + data + padding)

    set_property(39, 31, 8, text, len(text))
    set_property(67, 31, 8, b"accessible\0Accessible\0", 22)
    set_property(pid_atom, 6, 32, struct.pack("<I", os.getpid()), 1)
    x.sendall(struct.pack("<BBHI", 8, 0, 2, window))
    return x


def exactly(connection, count):
    data = b""
    while len(data) < count:
        data += connection.recv(count - len(data))
    return data


with open(sys.argv[1]) as file:
    description = json.load(file)
session = Bus(os.environ["DBUS_SESSION_BUS_ADDRESS"])
address = texts_of(session.call("org.a11y.Bus", "/org/a11y/bus", "org.a11y.Bus", "GetAddress"))[0]
bus = Bus(address)
program = Program(bus, description)
# On Wayland, only the tree is there.
window = show_window(description["title"]) if os.environ.get("DISPLAY") else None
root = PREFIX + "root"
bus.call("org.a11y.atspi.Registry", root, "org.a11y.atspi.Socket", "Embed", "(so)", [(bus.name, root)])
program.serve()
