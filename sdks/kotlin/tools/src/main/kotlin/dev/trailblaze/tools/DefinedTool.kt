package dev.trailblaze.tools

import dev.trailblaze.TrailblazeCommands
import kotlinx.coroutines.runInterruptible
import kotlinx.serialization.json.JsonObject
import java.lang.reflect.InvocationTargetException
import kotlin.reflect.KClass
import kotlin.reflect.KFunction
import kotlin.reflect.KParameter
import kotlin.reflect.KType
import kotlin.reflect.full.callSuspendBy
import kotlin.reflect.full.findAnnotation
import kotlin.reflect.full.memberFunctions
import kotlin.reflect.full.memberProperties
import kotlin.reflect.full.primaryConstructor
import kotlin.reflect.jvm.isAccessible
import kotlin.reflect.jvm.javaConstructor
import kotlin.reflect.jvm.javaMethod

/** A tool that cannot be served as it is written. */
public class DefinitionError internal constructor(message: String) : IllegalArgumentException(message)

/** A tool: what clients see of it, and how it is called. */
internal class DefinedTool(
    val name: String,
    val description: String?,
    val arguments: Arguments<*>,
    /** What the tool itself says; a registry takes precedence. */
    val metadata: ToolMetadata,
    /** Where it is in the author's code. */
    val where: String?,
    /** Calls it with arguments that were read. */
    val call: suspend (arguments: Any?, context: TrailblazeContext) -> ToolResult,
) {
    init {
        if (!NAME.matches(name)) {
            throw DefinitionError(atPlace("`$name` is not a valid tool name: models accept up to 64 letters, digits, _ and -", where))
        }
    }

    suspend fun run(args: JsonObject, context: TrailblazeContext): ToolResult {
        val read = try {
            arguments.read(args)
        } catch (thrown: InvocationTargetException) {
            throw thrown.targetException
        }
        return when (read) {
            is Arguments.Read.Valid -> call(read.value, context)
            is Arguments.Read.Invalid -> refusal(read)
        }
    }

    private fun refusal(invalid: Arguments.Read.Invalid): ToolResult {
        val text = atPlace("invalid arguments for `$name`: ${invalid.problems.joinToString("; ")}", where)
        return if (invalid.missing.isEmpty()) ToolResult.failure(text) else ToolResult.missingRequiredArgs(invalid.missing, text)
    }

    companion object {
        private val NAME = Regex("[a-zA-Z0-9_-]{1,64}")

        /** A message and its place, ahead of a hint: `it broke (AcmeTools.kt:42)`. */
        fun atPlace(message: String, where: String?): String {
            if (where == null) return message
            val end = message.lastIndexOf("\nhint: ").takeIf { it >= 0 } ?: message.length
            return "${message.substring(0, end)} ($where)${message.substring(end)}"
        }

        /** The tools of a class, each called on what `instance` returns. */
        fun ofToolSet(type: KClass<*>, instance: (TrailblazeContext) -> Any): List<DefinedTool> {
            val functions = type.memberFunctions.filter { it.findAnnotation<Tool>() != null }
            if (functions.isEmpty()) {
                throw DefinitionError("the toolset `${type.simpleName}` has no function with the annotation @Tool")
            }
            // In the order of the file, which reflection does not keep.
            return functions.map { ofFunction(type, it, instance) }.sortedBy { lineOf(it.where) }
        }

        private fun lineOf(where: String?): Int = where?.substringAfterLast(':')?.toIntOrNull() ?: Int.MAX_VALUE

        private fun ofFunction(type: KClass<*>, function: KFunction<*>, instance: (TrailblazeContext) -> Any): DefinedTool {
            function.isAccessible = true
            val name = function.findAnnotation<Tool>()!!.customName.ifEmpty { function.name }
            val where = function.javaMethod?.let { SourceLine.of(it) }
            val what = "the tool `$name` (${where ?: "${type.simpleName}.${function.name}"})"
            val receiver = function.parameters.first { it.kind == KParameter.Kind.INSTANCE }
            val (contexts, others) = function.parameters.filter { it.kind == KParameter.Kind.VALUE }
                .partition { it.type.classifier == TrailblazeContext::class }
            val whole = others.singleOrNull()?.takeIf { Arguments.isTool(it.type) }
            if (whole == null && others.any { Arguments.isTool(it.type) }) {
                val rule = "a tool has either one of these or flat parameters"
                throw DefinitionError("$what has several parameters, and one is a TrailblazeTool; $rule")
            }
            val results = Results(function.returnType, what)
            val arguments = if (whole == null) Parameters(others, what) else Arguments.ofClass(whole.type, "the parameter of $what")
            val description = function.findAnnotation<LLMDescription>()?.description
            return DefinedTool(name, description, arguments, ToolMetadata(), where) { read, context ->
                val values = HashMap<KParameter, Any?>()
                values[receiver] = instance(context)
                contexts.forEach { values[it] = context }
                if (whole != null) values[whole] = read else putAll(values, read)
                results.of(invoke(function, values))
            }
        }

        @Suppress("UNCHECKED_CAST")
        private fun putAll(values: MutableMap<KParameter, Any?>, read: Any?) = values.putAll(read as Map<KParameter, Any?>)

        private suspend fun invoke(function: KFunction<*>, values: Map<KParameter, Any?>): Any? = try {
            // A blocking function is interrupted if its call is cancelled.
            if (function.isSuspend) function.callSuspendBy(values) else runInterruptible { function.callBy(values) }
        } catch (thrown: InvocationTargetException) {
            throw thrown.targetException
        }

        /** A tool that is a class with arguments of their own. */
        fun <A> ofTyped(
            name: String,
            description: String?,
            metadata: ToolMetadata,
            type: KType,
            make: (TrailblazeCommands) -> TypedTrailblazeTool<A>,
        ): DefinedTool {
            val arguments = Arguments.ofClass(type, "the arguments of the tool `$name`")
            return DefinedTool(name, description, arguments, metadata, null) { read, context ->
                @Suppress("UNCHECKED_CAST")
                make(context.client).execute(read as A)
            }
        }

        /** A tool whose arguments are the parameters of its constructor. */
        fun ofClass(type: KClass<out TrailblazeTool>): DefinedTool {
            val annotation = type.findAnnotation<TrailblazeToolClass>()
                ?: throw DefinitionError("`${type.simpleName}` needs the annotation @TrailblazeToolClass")
            val constructor = type.primaryConstructor ?: throw DefinitionError("`${type.simpleName}` needs a primary constructor")
            val where = constructor.javaConstructor?.let { SourceLine.of(it) }
            val what = "the tool `${annotation.name}` (${where ?: type.simpleName})"
            val isDelegating = DelegatingTrailblazeTool::class.java.isAssignableFrom(type.java)
            val metadata = ToolMetadata(
                platforms = annotation.platforms.toSet(),
                exposedToLlm = annotation.isForLlm,
                isRecordable = annotation.isRecordable && !isDelegating,
                isDelegating = isDelegating,
                requiresHost = annotation.requiresHost,
            )
            val description = type.findAnnotation<LLMDescription>()?.description
            val arguments = Arguments.ofConstructor(constructor, what)
            return DefinedTool(annotation.name, description, arguments, metadata, where) { tool, context -> execute(tool, context) }
        }

        private suspend fun execute(tool: Any?, context: TrailblazeContext): ToolResult = when (tool) {
            is ExecutableTrailblazeTool -> when (val result = tool.execute(TrailblazeToolExecutionContext(context, null))) {
                TrailblazeToolResult.Success -> ToolResult.success()
                is TrailblazeToolResult.Error -> ToolResult.failure(result.message)
            }
            is DelegatingTrailblazeTool -> {
                val screen = context.client.captureScreen()
                val made = runInterruptible { tool.toExecutableTrailblazeTools(TrailblazeToolExecutionContext(context, screen)) }
                ToolResult.delegates(made.map { delegateOf(it) })
            }
            else -> throw DefinitionError("a tool class must be an ExecutableTrailblazeTool or a DelegatingTrailblazeTool")
        }

        /** The call that an object of a tool class stands for. */
        private fun delegateOf(tool: ExecutableTrailblazeTool): Delegate {
            val type = tool::class
            val name = type.findAnnotation<TrailblazeToolClass>()?.name
                ?: throw DefinitionError("`${type.simpleName}` needs @TrailblazeToolClass, so that it can be called by its name")
            val properties = type.memberProperties.associateBy { it.name }
            val args = type.primaryConstructor?.parameters.orEmpty().mapNotNull { parameter ->
                val property = properties[parameter.name] ?: throw DefinitionError(
                    "the parameter `${parameter.name}` of `${type.simpleName}` must be a property, so that it can be passed on",
                )
                property.isAccessible = true
                property.getter.call(tool)?.let { property.name to it }
            }
            return Delegate(name, args.toMap())
        }
    }
}
