package dev.trailblaze.tools

import dev.trailblaze.ApiError
import dev.trailblaze.JsonValues
import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.JsonNull
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonPrimitive

/**
 * The memory of a session, as one call sees and changes it. Trailblaze gets the changes with the result, unless that is an error.
 * Safe for use by several coroutines of the call. When the call has ended, it can be read but not changed.
 */
public class ToolMemory internal constructor(private val known: JsonObject, private val checkRunning: (String) -> Unit) {
    private val changes = LinkedHashMap<String, JsonElement?>()

    /** The names of all values. */
    public val keys: Set<String>
        get() = synchronized(changes) { (known.keys + changes.filterValues { it != null }.keys).filterTo(LinkedHashSet(), ::isThere) }

    /** A value: a text, number, boolean, list or map. Null if there is none. */
    public operator fun get(name: String): Any? = element(name)?.let { JsonValues.fromJson(it) }

    /** A value as text: what is no text becomes JSON. Null if there is none. */
    public fun text(name: String): String? = when (val value = element(name)) {
        null, JsonNull -> null
        is JsonPrimitive -> value.content
        else -> value.toString()
    }

    /** Whether there is a value. */
    public operator fun contains(name: String): Boolean = synchronized(changes) { isThere(name) }

    /**
     * Remembers a text, number, boolean, list or map. Later steps can use it as `{{name}}`.
     *
     * @throws ApiError if the call has ended.
     */
    public operator fun set(name: String, value: Any?) {
        val json = toRemember(name, value)
        checkRunning("memory.set")
        refuseReserved(name)
        synchronized(changes) { changes[name] = json }
    }

    /**
     * Forgets a value. Returns whether there was one.
     *
     * @throws ApiError if the call has ended.
     */
    public fun remove(name: String): Boolean {
        checkRunning("memory.remove")
        refuseReserved(name)
        return synchronized(changes) {
            val wasThere = isThere(name)
            if (name in known) changes[name] = null else changes.remove(name)
            wasThere
        }
    }

    /** Trailblaze sets these names itself, and would refuse the result. */
    private fun refuseReserved(name: String) {
        val prefix = listOf("target.", "args.").firstOrNull { name.startsWith(it) } ?: return
        throw IllegalArgumentException("`$name` cannot be changed in memory: names that begin with `$prefix` are set by Trailblaze")
    }

    /** Ends the call. A result that succeeded gets the changes; what the result itself says takes precedence. */
    internal fun end(result: ToolResult?): ToolResult? = synchronized(changes) {
        if (result != null && !result.isError) return@synchronized withChanges(result)
        // They are no part of the next call in the same context.
        changes.clear()
        result
    }

    private fun withChanges(result: ToolResult): ToolResult {
        val set = changes.mapNotNull { (name, value) -> value?.let { name to it } }.toMap()
        val removed = changes.filterValues { it == null }.keys
        return result.copy(
            remembered = set - result.forgotten + result.remembered,
            forgotten = removed - result.remembered.keys + result.forgotten,
        )
    }

    private fun element(name: String): JsonElement? =
        synchronized(changes) { if (name in changes) changes[name] else known[name] }

    private fun isThere(name: String): Boolean = if (name in changes) changes[name] != null else name in known

    internal companion object {
        /** A value to remember as JSON. */
        fun toRemember(name: String, value: Any?): JsonElement = try {
            JsonValues.toJson(value)
        } catch (problem: ApiError) {
            throw IllegalArgumentException("`$name` cannot be remembered: ${problem.reason.removePrefix("the arguments are not JSON: ")}")
        }
    }
}
