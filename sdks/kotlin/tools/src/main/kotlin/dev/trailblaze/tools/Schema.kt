package dev.trailblaze.tools

import kotlinx.serialization.ExperimentalSerializationApi
import kotlinx.serialization.SerialName
import kotlinx.serialization.descriptors.PolymorphicKind
import kotlinx.serialization.descriptors.PrimitiveKind
import kotlinx.serialization.descriptors.SerialDescriptor
import kotlinx.serialization.descriptors.SerialKind
import kotlinx.serialization.descriptors.StructureKind
import kotlinx.serialization.descriptors.elementNames
import kotlinx.serialization.json.JsonArray
import kotlinx.serialization.json.JsonIgnoreUnknownKeys
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.add
import kotlinx.serialization.json.buildJsonArray
import kotlinx.serialization.json.buildJsonObject
import kotlinx.serialization.json.put
import kotlinx.serialization.json.putJsonArray
import kotlinx.serialization.json.putJsonObject
import kotlin.reflect.KClass
import kotlin.reflect.KType
import kotlin.reflect.full.findAnnotation
import kotlin.reflect.full.memberProperties
import kotlin.reflect.full.primaryConstructor

/** JSON Schema from Kotlin types, as short as models need it: an optional value is absent instead of null. */
@OptIn(ExperimentalSerializationApi::class)
internal object Schema {
    /** The key that says whether an object may have names that its schema does not list. */
    const val FURTHER: String = "additionalProperties"

    /** The key that names the class of an object whose type is sealed. */
    const val DISCRIMINATOR: String = "type"

    /**
     * @param descriptor The type as it is serialized.
     * @param type The same type in Kotlin, for descriptions.
     * @param above The classes that contain this one, which a recursive class would repeat.
     */
    fun of(descriptor: SerialDescriptor, type: KType?, above: Set<String> = emptySet()): JsonObject {
        if (descriptor.isInline) {
            return of(descriptor.getElementDescriptor(0), null, above)
        }
        return when (descriptor.kind) {
            PrimitiveKind.BOOLEAN -> typed("boolean")
            PrimitiveKind.BYTE, PrimitiveKind.SHORT, PrimitiveKind.INT, PrimitiveKind.LONG -> typed("integer")
            PrimitiveKind.FLOAT, PrimitiveKind.DOUBLE -> typed("number")
            PrimitiveKind.CHAR, PrimitiveKind.STRING -> typed("string")
            SerialKind.ENUM -> buildJsonObject {
                put("type", "string")
                putJsonArray("enum") { descriptor.elementNames.forEach { add(it) } }
            }
            StructureKind.LIST -> buildJsonObject {
                put("type", "array")
                put("items", of(descriptor.getElementDescriptor(0), type?.arguments?.firstOrNull()?.type, above))
            }
            StructureKind.MAP -> buildJsonObject {
                put("type", "object")
                put(FURTHER, of(descriptor.getElementDescriptor(1), type?.arguments?.getOrNull(1)?.type, above))
            }
            StructureKind.CLASS, StructureKind.OBJECT -> ofClass(descriptor, type, above)
            PolymorphicKind.SEALED -> ofSealed(descriptor, above)
            // Any JSON.
            else -> JsonObject(emptyMap())
        }
    }

    /** What an element of a class is described as. */
    fun descriptionOf(type: KType?, element: String): String? {
        val owner = type?.classifier as? KClass<*> ?: return null
        val property = runCatching { owner.memberProperties }.getOrDefault(emptyList())
            .firstOrNull { (it.findAnnotation<SerialName>()?.value ?: it.name) == element }
        val parameter = owner.primaryConstructor?.parameters?.firstOrNull { it.name == (property?.name ?: element) }
        return (property?.findAnnotation<LLMDescription>() ?: parameter?.findAnnotation<LLMDescription>())?.description
    }

    private fun typed(name: String): JsonObject = buildJsonObject { put("type", name) }

    private fun ofClass(descriptor: SerialDescriptor, type: KType?, above: Set<String>): JsonObject {
        val name = descriptor.serialName.removeSuffix("?")
        if (name in above) {
            return typed("object")
        }
        val properties = (type?.classifier as? KClass<*>)?.let { propertyTypes(it) }.orEmpty()
        return buildJsonObject {
            put("type", "object")
            putJsonObject("properties") {
                for ((index, element) in descriptor.elementNames.withIndex()) {
                    val schema = of(descriptor.getElementDescriptor(index), properties[element], above + name)
                    put(element, described(schema, descriptionOf(type, element)))
                }
            }
            val required = descriptor.elementNames.filterIndexed { index, _ -> isRequired(descriptor, index) }
            if (required.isNotEmpty()) putJsonArray("required") { required.forEach { add(it) } }
            if (!isOpen(descriptor)) put(FURTHER, false)
        }
    }

    /** Whether a class accepts names that it does not have. */
    fun isOpen(descriptor: SerialDescriptor): Boolean = descriptor.annotations.any { it is JsonIgnoreUnknownKeys }

    /** The classes of a sealed one, by name. Null if it is not a class of the author. */
    fun casesOf(descriptor: SerialDescriptor): SerialDescriptor? =
        // Values of JSON itself are sealed too.
        if (descriptor.serialName.startsWith("kotlinx.serialization.json.")) null else descriptor.getElementDescriptor(1)

    fun described(schema: JsonObject, description: String?): JsonObject = when (description) {
        null -> schema
        else -> buildJsonObject {
            schema.forEach { (key, value) -> put(key, value) }
            put("description", description)
        }
    }

    /** A value that may be null may also be absent, if it has a default. */
    fun isRequired(descriptor: SerialDescriptor, index: Int): Boolean =
        !descriptor.isElementOptional(index) && !descriptor.getElementDescriptor(index).isNullable

    private fun propertyTypes(owner: KClass<*>): Map<String, KType> =
        runCatching { owner.memberProperties }.getOrDefault(emptyList())
            .associate { (it.findAnnotation<SerialName>()?.value ?: it.name) to it.returnType }

    private fun ofSealed(descriptor: SerialDescriptor, above: Set<String>): JsonObject {
        val cases = casesOf(descriptor) ?: return JsonObject(emptyMap())
        return buildJsonObject {
            put(
                "anyOf",
                buildJsonArray {
                    for ((index, name) in cases.elementNames.withIndex()) {
                        val case = of(cases.getElementDescriptor(index), null, above + descriptor.serialName)
                        add(withDiscriminator(case, name))
                    }
                },
            )
        }
    }

    private fun withDiscriminator(case: JsonObject, name: String): JsonObject = buildJsonObject {
        put("type", "object")
        putJsonObject("properties") {
            putJsonObject(DISCRIMINATOR) { put("const", name) }
            (case["properties"] as? JsonObject)?.forEach { (key, value) -> put(key, value) }
        }
        putJsonArray("required") {
            add(DISCRIMINATOR)
            (case["required"] as? JsonArray)?.forEach { add(it) }
        }
        case[FURTHER]?.let { put(FURTHER, it) }
    }
}
