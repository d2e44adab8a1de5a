"""A window of GTK 3 with so many elements in view: rows of a label, a field and a button. With `table`, a table with so many rows."""

import sys

import gi

gi.require_version("Gtk", "3.0")
from gi.repository import Gtk  # noqa: E402

count = int(sys.argv[1])
window = Gtk.Window(title="Elements")
window.set_default_size(1000, 700)
window.connect("destroy", Gtk.main_quit)
if sys.argv[2:] == ["table"]:
    rows = Gtk.ListStore(str)
    for number in range(count):
        rows.append([f"row {number + 1}"])
    table = Gtk.TreeView(model=rows)
    table.append_column(Gtk.TreeViewColumn("Name", Gtk.CellRendererText(), text=0))
    content = Gtk.ScrolledWindow()
    content.add(table)
else:
    content = Gtk.Grid()
    # A button has a label in it, so that a row has four elements.
    for number in range(count // 4):
        left, top = number % 5 * 3, number // 5
        field = Gtk.Entry(text=f"value {number}", width_chars=4)
        label = Gtk.Label(label=f"name {number}")
        label.set_mnemonic_widget(field)
        for place, element in enumerate([label, field, Gtk.Button(label=f"do {number}")]):
            content.attach(element, left + place, top, 1, 1)
window.add(content)
window.show_all()
Gtk.main()
