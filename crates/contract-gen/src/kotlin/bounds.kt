    /** The horizontal middle. */
    public val centerX: Int get() = (left + right) / 2

    /** The vertical middle. */
    public val centerY: Int get() = (top + bottom) / 2

    /** Whether a point is in the rectangle. */
    public fun contains(x: Int, y: Int): Boolean = x in left until right && y in top until bottom
