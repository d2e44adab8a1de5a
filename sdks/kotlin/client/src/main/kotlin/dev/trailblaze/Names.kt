package dev.trailblaze

/** Messages about names that do not exist. */
public object Names {
    /** Says that a name is unknown, and which one was probably meant or may be used. */
    @JvmStatic
    @JvmOverloads
    public fun unknown(what: String, name: String, known: Collection<String>, path: String = name): String {
        val near = nearest(name, known)
        return "unknown $what `$path`; " + when {
            near != null -> "did you mean `$near`?"
            known.isEmpty() -> "none are accepted"
            else -> "expected one of ${known.joinToString { "`$it`" }}"
        }
    }

    private fun nearest(name: String, known: Collection<String>): String? =
        known.map { it to distance(name.lowercase(), it.lowercase()) }
            .filter { (candidate, distance) -> distance <= maxOf(name.length, candidate.length) / LETTERS_PER_MISTAKE }
            .minByOrNull { it.second }?.first

    /** How many letters to insert, remove or replace. */
    private fun distance(one: String, other: String): Int {
        var row = IntArray(other.length + 1) { it }
        for ((i, letter) in one.withIndex()) {
            val next = IntArray(other.length + 1)
            next[0] = i + 1
            for (j in other.indices) {
                next[j + 1] = minOf(row[j + 1] + 1, next[j] + 1, row[j] + if (letter == other[j]) 0 else 1)
            }
            row = next
        }
        return row.last()
    }

    private const val LETTERS_PER_MISTAKE = 3
}
