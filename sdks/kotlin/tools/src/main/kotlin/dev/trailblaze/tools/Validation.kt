package dev.trailblaze.tools

import dev.trailblaze.Names
import kotlinx.serialization.ExperimentalSerializationApi
import kotlinx.serialization.descriptors.PolymorphicKind
import kotlinx.serialization.descriptors.PrimitiveKind
import kotlinx.serialization.descriptors.SerialDescriptor
import kotlinx.serialization.descriptors.SerialKind
import kotlinx.serialization.descriptors.StructureKind
import kotlinx.serialization.descriptors.elementNames
import kotlinx.serialization.json.JsonArray
import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.JsonNull
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonPrimitive
import kotlinx.serialization.json.booleanOrNull
import kotlinx.serialization.json.doubleOrNull
import kotlinx.serialization.json.longOrNull

/** What is wrong with arguments, all at once and in words. */
@OptIn(ExperimentalSerializationApi::class)
internal object Validation {
    private const val SHOWN = 80

    fun problems(descriptor: SerialDescriptor, value: JsonElement, path: String): List<String> = when {
        value is JsonNull && descriptor.isNullable -> emptyList()
        descriptor.isInline -> problems(descriptor.getElementDescriptor(0), value, path)
        else -> ofKind(descriptor, value, path)
    }

    private fun ofKind(descriptor: SerialDescriptor, value: JsonElement, path: String): List<String> {
        val primitive = (value as? JsonPrimitive)?.takeIf { it !is JsonNull }
        return when (descriptor.kind) {
            PrimitiveKind.BOOLEAN -> unless(primitive.isPlain { booleanOrNull != null }, path, "a boolean", value)
            PrimitiveKind.BYTE -> integer(primitive, path, value, Byte.MIN_VALUE.toLong()..Byte.MAX_VALUE)
            PrimitiveKind.SHORT -> integer(primitive, path, value, Short.MIN_VALUE.toLong()..Short.MAX_VALUE)
            PrimitiveKind.INT -> integer(primitive, path, value, Int.MIN_VALUE.toLong()..Int.MAX_VALUE)
            PrimitiveKind.LONG -> integer(primitive, path, value, Long.MIN_VALUE..Long.MAX_VALUE)
            PrimitiveKind.FLOAT, PrimitiveKind.DOUBLE ->
                unless(primitive.isPlain { doubleOrNull != null }, path, "a number", value)
            PrimitiveKind.STRING -> unless(primitive?.isString == true, path, "a string", value)
            PrimitiveKind.CHAR ->
                unless(primitive?.isString == true && primitive.content.length == 1, path, "a single character", value)
            SerialKind.ENUM -> {
                val words = descriptor.elementNames.joinToString { "`$it`" }
                unless(primitive?.isString == true && primitive.content in descriptor.elementNames, path, "one of $words", value)
            }
            StructureKind.LIST -> when (value) {
                is JsonArray -> value.flatMapIndexed { index, item -> problems(descriptor.getElementDescriptor(0), item, "$path[$index]") }
                else -> unless(false, path, "a list", value)
            }
            StructureKind.MAP -> when (value) {
                is JsonObject -> value.flatMap { (key, item) -> problems(descriptor.getElementDescriptor(1), item, within(path, key)) }
                else -> unless(false, path, "an object", value)
            }
            StructureKind.CLASS, StructureKind.OBJECT -> when (value) {
                is JsonObject -> fields(descriptor, value, path)
                else -> unless(false, path, "an object", value)
            }
            PolymorphicKind.SEALED -> ofSealed(descriptor, value, path)
            // Those that only their serializer can check.
            else -> emptyList()
        }
    }

    private fun ofSealed(descriptor: SerialDescriptor, value: JsonElement, path: String): List<String> {
        val cases = Schema.casesOf(descriptor) ?: return emptyList()
        val name = ((value as? JsonObject)?.get(Schema.DISCRIMINATOR) as? JsonPrimitive)?.content
        // Its serializer says what is wrong with the name.
        val index = cases.elementNames.indexOf(name).takeIf { it >= 0 } ?: return emptyList()
        return fields(cases.getElementDescriptor(index), JsonObject(value as JsonObject - Schema.DISCRIMINATOR), path)
    }

    /** The missing, wrong and unknown fields of an object. */
    private fun fields(descriptor: SerialDescriptor, value: JsonObject, path: String): List<String> {
        val unknown = if (Schema.isOpen(descriptor)) emptyList() else unknown(descriptor.elementNames.toList(), value, path)
        return missingAndWrong(descriptor, value, path) + unknown
    }

    /** The fields that do not exist, most often misspelled ones. */
    fun unknown(known: List<String>, value: JsonObject, path: String): List<String> =
        (value.keys - known).map { Names.unknown("argument", it, known, within(path, it)) }

    private fun missingAndWrong(descriptor: SerialDescriptor, value: JsonObject, path: String): List<String> =
        descriptor.elementNames.flatMapIndexed { index, name ->
            val inner = within(path, name)
            val item = value[name]
            when {
                item != null -> problems(descriptor.getElementDescriptor(index), item, inner)
                Schema.isRequired(descriptor, index) -> listOf("`$inner` is missing")
                else -> emptyList()
            }
        }

    private fun within(path: String, name: String): String = if (path.isEmpty()) name else "$path.$name"

    private fun integer(primitive: JsonPrimitive?, path: String, value: JsonElement, range: LongRange): List<String> {
        val number = primitive?.takeIf { !it.isString }?.longOrNull
        return when {
            number == null -> unless(false, path, "an integer", value)
            else -> unless(number in range, path, "an integer from ${range.first} to ${range.last}", value)
        }
    }

    private fun JsonPrimitive?.isPlain(test: JsonPrimitive.() -> Boolean): Boolean = this != null && !isString && test()

    private fun unless(holds: Boolean, path: String, expected: String, value: JsonElement): List<String> {
        val got = value.toString().let { if (it.length > SHOWN) it.take(SHOWN) + "…" else it }
        return if (holds) emptyList() else listOf("`$path` must be $expected, got $got")
    }
}
