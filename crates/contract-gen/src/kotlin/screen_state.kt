    /** All elements of the screen, each before its children. */
    public val elements: List<Element> get() = root.walk().toList()

    /** The elements that have all that is given. [text] is the whole text, or the whole label. */
    @JvmOverloads
    public fun findAll(text: String? = null, id: String? = null, role: String? = null): List<Element> =
        root.findAll(text, id, role)

    /** The first element of [findAll], or null. */
    @JvmOverloads
    public fun find(text: String? = null, id: String? = null, role: String? = null): Element? =
        root.find(text, id, role)

    /** The innermost element at a point, in pixels; the last one if several overlap. Null if there is none. */
    public fun elementAt(x: Int, y: Int): Element? = root.walk().lastOrNull { element ->
        element.bounds != null && !element.clipped && element.bounds.contains(x, y)
    }
