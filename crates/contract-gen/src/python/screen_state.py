    @property
    def elements(self) -> tuple[Element, ...]:
        """All elements of the screen, each before its children."""
        return tuple(self.root.walk())

    def find_all(self, *, text: str | None = None, id: str | None = None, role: str | None = None) -> Iterator[Element]:
        """The elements that have all that is given. `text` is the whole text, or the whole label."""
        return self.root.find_all(text=text, id=id, role=role)

    def find(self, *, text: str | None = None, id: str | None = None, role: str | None = None) -> Element | None:
        """The first element of `find_all()`, or None."""
        return next(self.find_all(text=text, id=id, role=role), None)

    def element_at(self, x: int, y: int) -> Element | None:
        """The innermost element at a point, in pixels; the last one if several overlap. None if there is none."""
        found = None
        for element in self.elements:
            if element.bounds is not None and not element.clipped and element.bounds.contains(x, y):
                found = element
        return found
