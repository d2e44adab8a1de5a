    @property
    def center(self) -> tuple[int, int]:
        """The point in the middle, as x and y."""
        return (self.left + self.right) // 2, (self.top + self.bottom) // 2

    def contains(self, x: int, y: int) -> bool:
        """Whether a point is in the rectangle."""
        return self.left <= x < self.right and self.top <= y < self.bottom
