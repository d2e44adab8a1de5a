package dev.trailblaze

import java.util.Base64
import kotlinx.serialization.json.JsonArray
import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.JsonNull
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonPrimitive
import kotlinx.serialization.json.booleanOrNull
import kotlinx.serialization.json.doubleOrNull

/** A field of a response has another type than the contract says. */
internal class WrongField(message: String) : RuntimeException(message)

/** Reads the fields of a message. Absent fields have the zero of their type; those that are not asked for are ignored. */
internal class Fields(private val json: JsonObject) {
    fun boolean(name: String): Boolean = booleanOrNull(name) ?: false

    fun booleanOrNull(name: String): Boolean? = read(name, "a boolean") { primitive(it)?.booleanOrNull }

    fun int(name: String): Int = intOrNull(name) ?: 0

    fun intOrNull(name: String): Int? = read(name, "a whole number") { element ->
        primitive(element)?.doubleOrNull?.let { number -> number.toInt().takeIf { it.toDouble() == number } }
    }

    fun text(name: String): String = textOrNull(name) ?: ""

    fun textOrNull(name: String): String? =
        read(name, "a text") { (it as? JsonPrimitive)?.takeIf(JsonPrimitive::isString)?.content }

    fun bytes(name: String): ByteArray = try {
        Base64.getDecoder().decode(text(name))
    } catch (_: IllegalArgumentException) {
        throw WrongField("`$name` is not base64")
    }

    fun value(name: String): Any? = JsonValues.fromJson(json[name])

    fun struct(name: String): Map<String, Any?> = objectOrNull(name)?.mapValues { (_, value) -> JsonValues.fromJson(value) }.orEmpty()

    fun texts(name: String): List<String> = array(name).mapIndexed { index, item ->
        (item as? JsonPrimitive)?.takeIf(JsonPrimitive::isString)?.content ?: throw wrong("$name[$index]", "a text", item)
    }

    fun <T> list(name: String, reader: (Fields) -> T): List<T> = array(name).mapIndexed { index, item ->
        reader(Fields(item as? JsonObject ?: throw wrong("$name[$index]", "an object", item)))
    }

    fun <T> map(name: String, reader: (Fields) -> T): Map<String, T> = objectOrNull(name).orEmpty().mapValues { (key, item) ->
        reader(Fields(item as? JsonObject ?: throw wrong("$name.$key", "an object", item)))
    }

    fun <T> message(name: String, reader: (Fields) -> T): T = reader(Fields(objectOrNull(name) ?: NOTHING))

    fun <T> messageOrNull(name: String, reader: (Fields) -> T): T? = objectOrNull(name)?.let { reader(Fields(it)) }

    private fun objectOrNull(name: String): JsonObject? = read(name, "an object") { it as? JsonObject }

    private fun array(name: String): JsonArray = read(name, "a list") { it as? JsonArray } ?: JsonArray(emptyList())

    private fun primitive(element: JsonElement): JsonPrimitive? = (element as? JsonPrimitive)?.takeUnless { it.isString }

    private fun <T : Any> read(name: String, expected: String, convert: (JsonElement) -> T?): T? {
        val element = json[name]
        if (element == null || element is JsonNull) return null
        return convert(element) ?: throw wrong(name, expected, element)
    }

    private fun wrong(name: String, expected: String, element: JsonElement) =
        WrongField("`$name` must be $expected, got ${excerpt(element.toString())}")

    private companion object {
        val NOTHING = JsonObject(emptyMap())
    }
}

/** The beginning of a text, for a message. */
internal fun excerpt(text: String): String = when {
    text.isBlank() -> "nothing"
    text.length > MAX_EXCERPT -> "`${text.take(MAX_EXCERPT).trim()}…`"
    else -> "`${text.trim()}`"
}

private const val MAX_EXCERPT = 200
