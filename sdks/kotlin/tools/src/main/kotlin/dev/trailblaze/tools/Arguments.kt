package dev.trailblaze.tools

import dev.trailblaze.JsonValues
import io.modelcontextprotocol.kotlin.sdk.types.ToolSchema
import kotlinx.serialization.ExperimentalSerializationApi
import kotlinx.serialization.KSerializer
import kotlinx.serialization.descriptors.StructureKind
import kotlinx.serialization.descriptors.elementNames
import kotlinx.serialization.json.Json
import kotlinx.serialization.json.JsonArray
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonPrimitive
import kotlinx.serialization.json.jsonPrimitive
import kotlinx.serialization.serializerOrNull
import kotlin.reflect.KClass
import kotlin.reflect.KFunction
import kotlin.reflect.KParameter
import kotlin.reflect.KType
import kotlin.reflect.full.findAnnotation
import kotlin.reflect.full.isSubclassOf
import kotlin.reflect.full.primaryConstructor
import kotlin.reflect.jvm.isAccessible

/** The arguments of a tool: their schema, and their values from JSON. */
internal interface Arguments<out A> {
    val schema: JsonObject

    fun read(args: JsonObject): Read<A>

    /** Valid arguments, or what is wrong with them. */
    sealed interface Read<out A> {
        class Valid<A>(val value: A) : Read<A>

        class Invalid(val missing: List<String>, val problems: List<String>) : Read<Nothing>
    }

    companion object {
        /** What may be null may be absent. */
        @OptIn(ExperimentalSerializationApi::class)
        val json: Json = Json {
            ignoreUnknownKeys = true
            explicitNulls = false
        }

        /** The fields of a class, as one value. */
        fun ofClass(type: KType, what: String): Arguments<Any?> {
            if (isAnyObject(type)) {
                return AnyObject
            }
            val serializer = json.serializersModule.serializerOrNull(type)
            if (serializer != null) {
                return Fields(serializer, type)
            }
            val constructor = (type.classifier as? KClass<*>)?.primaryConstructor
                ?: throw DefinitionError("$what has the type `$type`, which is neither @Serializable nor has a constructor")
            return ofConstructor(constructor, what)
        }

        /** The parameters of a constructor, as the object that it makes. */
        fun <T> ofConstructor(constructor: KFunction<T>, what: String): Arguments<T> {
            constructor.isAccessible = true
            val parameters = Parameters(constructor.parameters, what)
            return object : Arguments<T> {
                override val schema = parameters.schema

                override fun read(args: JsonObject): Read<T> = when (val read = parameters.read(args)) {
                    is Read.Valid -> Read.Valid(constructor.callBy(read.value))
                    is Read.Invalid -> read
                }
            }
        }

        /** `Map<String, Any>`, which has no serializer. */
        private fun isAnyObject(type: KType): Boolean =
            type.classifier == Map::class && type.arguments.getOrNull(1)?.type?.classifier == Any::class

        fun isTool(type: KType): Boolean = (type.classifier as? KClass<*>)?.isSubclassOf(TrailblazeTool::class) == true
    }
}

/** The schema as MCP's library wants it, without `additionalProperties`, which [Listing] adds. */
internal fun JsonObject.toToolSchema(): ToolSchema = ToolSchema(
    properties = this["properties"] as? JsonObject ?: JsonObject(emptyMap()),
    required = (this["required"] as? JsonArray)?.map { it.jsonPrimitive.content },
)

/** A class with a serializer, or a map. */
@OptIn(ExperimentalSerializationApi::class)
private class Fields(private val serializer: KSerializer<Any?>, type: KType) : Arguments<Any?> {
    private val descriptor = serializer.descriptor

    override val schema: JsonObject = Schema.of(descriptor, type)

    override fun read(args: JsonObject): Arguments.Read<Any?> {
        val missing = if (descriptor.kind == StructureKind.CLASS) missing(args) else emptyList()
        val problems = Validation.problems(descriptor, args, "")
        if (problems.isNotEmpty()) {
            return Arguments.Read.Invalid(missing, problems)
        }
        return Arguments.Read.Valid(Arguments.json.decodeFromJsonElement(serializer, args))
    }

    private fun missing(args: JsonObject): List<String> =
        descriptor.elementNames.filterIndexed { index, name -> Schema.isRequired(descriptor, index) && name !in args }
}

private object AnyObject : Arguments<Map<String, Any?>> {
    override val schema: JsonObject = JsonObject(emptyMap())

    override fun read(args: JsonObject): Arguments.Read<Map<String, Any?>> =
        Arguments.Read.Valid(args.mapValues { (_, value) -> JsonValues.fromJson(value) })
}

/** Flat parameters of a function or constructor. */
internal class Parameters(parameters: List<KParameter>, what: String) : Arguments<Map<KParameter, Any?>> {
    private class Parameter(val parameter: KParameter, val name: String, val serializer: KSerializer<Any?>) {
        val isRequired = !parameter.isOptional && !parameter.type.isMarkedNullable
    }

    private val parameters: List<Parameter> = parameters.map { parameter ->
        val name = parameter.name ?: throw DefinitionError("a parameter of $what has no name")
        val serializer = Arguments.json.serializersModule.serializerOrNull(parameter.type)
            ?: throw DefinitionError("the parameter `$name` of $what has the type `${parameter.type}`, which is not @Serializable")
        Parameter(parameter, name, serializer)
    }

    override val schema: JsonObject = JsonObject(
        buildMap {
            put(
                "properties",
                JsonObject(
                    this@Parameters.parameters.associate {
                        val description = it.parameter.findAnnotation<LLMDescription>()?.description
                        it.name to Schema.described(Schema.of(it.serializer.descriptor, it.parameter.type), description)
                    },
                ),
            )
            val required = this@Parameters.parameters.filter { it.isRequired }.map { it.name }
            if (required.isNotEmpty()) put("required", JsonValues.toJson(required))
            put(Schema.FURTHER, JsonPrimitive(false))
        },
    )

    override fun read(args: JsonObject): Arguments.Read<Map<KParameter, Any?>> {
        val missing = parameters.filter { it.isRequired && it.name !in args }.map { it.name }
        val problems = missing.map { "`$it` is missing" } + parameters.flatMap { parameter ->
            args[parameter.name]?.let { Validation.problems(parameter.serializer.descriptor, it, parameter.name) }.orEmpty()
        } + Validation.unknown(parameters.map { it.name }, args, "")
        if (problems.isNotEmpty()) {
            return Arguments.Read.Invalid(missing, problems)
        }
        val values = LinkedHashMap<KParameter, Any?>()
        for (parameter in parameters) {
            val value = args[parameter.name]
            when {
                value != null -> values[parameter.parameter] = Arguments.json.decodeFromJsonElement(parameter.serializer, value)
                !parameter.parameter.isOptional -> values[parameter.parameter] = null
            }
        }
        return Arguments.Read.Valid(values)
    }
}
