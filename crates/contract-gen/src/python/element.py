    def walk(self) -> Iterator[Element]:
        """This element and all elements in it, each before its children."""
        stack: list[Element] = [self]
        while stack:
            element = stack.pop()
            yield element
            stack.extend(reversed(element.children))

    def has_id(self, id: str) -> bool:
        """Whether this is its id. On Android, the part after `:id/` is enough, as for `tap(id=...)`."""
        return self.id is not None and (self.id == id or self.id.endswith(f":id/{id}"))

    def find_all(self, *, text: str | None = None, id: str | None = None, role: str | None = None) -> Iterator[Element]:
        """Those elements of `walk()` that have all that is given. `text` is the whole text, or the whole label."""
        for element in self.walk():
            if text is not None and text not in (element.text, element.label):
                continue
            if (id is None or element.has_id(id)) and (role is None or element.role == role):
                yield element

    def find(self, *, text: str | None = None, id: str | None = None, role: str | None = None) -> Element | None:
        """The first element of `find_all()`, or None."""
        return next(self.find_all(text=text, id=id, role=role), None)
