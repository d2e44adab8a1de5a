    /** This element and all elements in it, each before its children. */
    public fun walk(): Sequence<Element> = sequence {
        val waiting = ArrayDeque(listOf(this@Element))
        while (waiting.isNotEmpty()) {
            val element = waiting.removeLast()
            yield(element)
            waiting.addAll(element.children.asReversed())
        }
    }

    /** Whether this is its id. On Android, the part after `:id/` is enough, as for `tap(id = …)`. */
    public fun hasId(id: String): Boolean = this.id != null && (this.id == id || this.id.endsWith(":id/$id"))

    /** Those elements of [walk] that have all that is given. [text] is the whole text, or the whole label. */
    @JvmOverloads
    public fun findAll(text: String? = null, id: String? = null, role: String? = null): List<Element> =
        matches(text, id, role).toList()

    /** The first element of [findAll], or null. */
    @JvmOverloads
    public fun find(text: String? = null, id: String? = null, role: String? = null): Element? =
        matches(text, id, role).firstOrNull()

    private fun matches(text: String?, id: String?, role: String?): Sequence<Element> = walk().filter { element ->
        (text == null || text == element.text || text == element.label) &&
            (id == null || element.hasId(id)) &&
            (role == null || element.role == role)
    }
