package dev.trailblaze

import kotlinx.serialization.json.JsonArray
import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.JsonNull
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonPrimitive
import kotlinx.serialization.json.booleanOrNull
import kotlinx.serialization.json.doubleOrNull
import kotlinx.serialization.json.intOrNull
import kotlinx.serialization.json.longOrNull

/** Converts between JSON and plain values, which the methods accept and return where any JSON value may be. */
public object JsonValues {
    /**
     * A plain value as JSON: null, booleans, numbers, texts, words of enums, lists, arrays, maps, and JSON itself.
     *
     * @throws ApiError if a value has no form in JSON.
     */
    @JvmStatic
    public fun toJson(value: Any?): JsonElement = when (value) {
        null -> JsonNull
        is JsonElement -> {
            notJsonIn(value)?.let { throw ApiError(Code.INVALID_ARGUMENT, "the arguments are not JSON: it has $it, which JSON does not have") }
            value
        }
        is Boolean -> JsonPrimitive(value)
        is Double -> finite(value.isFinite(), value)
        is Float -> finite(value.isFinite(), value)
        is Number -> JsonPrimitive(value)
        is CharSequence, is Char -> JsonPrimitive(value.toString())
        is Enum<*> -> JsonPrimitive(value.name)
        is Map<*, *> -> JsonObject(value.entries.associate { (name, item) -> name.toString() to toJson(item) })
        is Iterable<*> -> JsonArray(value.map(::toJson))
        is Array<*> -> JsonArray(value.map(::toJson))
        else -> throw ApiError(
            Code.INVALID_ARGUMENT,
            "the arguments are not JSON: a ${value::class.java.name} cannot be sent; pass a map, a list, a text or a number",
        )
    }

    /**
     * JSON as a plain value: null, a boolean, a text, a number (an `Int`, a `Long` if it is larger, or a `Double`), a list
     * or a map.
     */
    @JvmStatic
    public fun fromJson(json: JsonElement?): Any? = when (json) {
        null, JsonNull -> null
        is JsonObject -> json.mapValues { (_, value) -> fromJson(value) }
        is JsonArray -> json.map(::fromJson)
        is JsonPrimitive -> if (json.isString) json.content else json.booleanOrNull ?: numberOf(json)
    }

    private fun numberOf(json: JsonPrimitive): Any = json.intOrNull ?: json.longOrNull ?: json.doubleOrNull ?: json.content

    private fun finite(isFinite: Boolean, value: Number): JsonPrimitive {
        if (!isFinite) throw ApiError(Code.INVALID_ARGUMENT, "the arguments are not JSON: it has $value, which JSON does not have")
        return JsonPrimitive(value)
    }

    /** What of an element JSON does not have, such as `NaN at \`total\``: the library writes it all the same. Null if there is nothing. */
    public fun notJsonIn(element: JsonElement, path: String = ""): String? {
        fun inside(name: Any, item: JsonElement) = notJsonIn(item, if (path.isEmpty()) "$name" else "$path.$name")
        return when (element) {
            is JsonObject -> element.firstNotNullOfOrNull { (name, item) -> inside(name, item) }
            is JsonArray -> element.withIndex().firstNotNullOfOrNull { (index, item) -> inside(index, item) }
            is JsonPrimitive -> {
                val isFinite = element.isString || element.content !in listOf("NaN", "Infinity", "-Infinity")
                if (isFinite) null else element.content + if (path.isEmpty()) "" else " at `$path`"
            }
        }
    }
}
