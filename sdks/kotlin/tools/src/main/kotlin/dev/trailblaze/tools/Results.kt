package dev.trailblaze.tools

import dev.trailblaze.ActionFailed
import dev.trailblaze.ApiError
import dev.trailblaze.Code
import dev.trailblaze.JsonValues
import dev.trailblaze.messages.ActionResult
import io.modelcontextprotocol.kotlin.sdk.types.CallToolResult
import io.modelcontextprotocol.kotlin.sdk.types.TextContent
import kotlinx.serialization.json.Json
import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.JsonNull
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonPrimitive
import kotlinx.serialization.serializerOrNull
import kotlin.reflect.KType

/** Makes results of what functions of one type return. */
internal class Results(type: KType, what: String) {
    private val serializer = if (isKnown(type)) {
        null
    } else {
        Arguments.json.serializersModule.serializerOrNull(type)
            ?: throw DefinitionError("$what returns a `$type`, which is neither a ToolResult nor @Serializable")
    }

    /** The result of what a function returned. What JSON does not have fails it. */
    fun of(returned: Any?): ToolResult = when (returned) {
        null, Unit -> ToolResult.success()
        is ToolResult -> returned.also { result -> result.structured?.let(::refuseNotJson) }
        is ActionResult -> ToolResult.success(returned.message)
        TrailblazeToolResult.Success -> ToolResult.success()
        is TrailblazeToolResult.Error -> ToolResult.failure(returned.message)
        is JsonElement -> ofJson(returned)
        else -> ofJson(json.encodeToJsonElement(serializer ?: error("a result of an unknown type"), returned))
    }

    private fun ofJson(json: JsonElement): ToolResult {
        refuseNotJson(json)
        return when (json) {
            is JsonNull -> ToolResult.success()
            is JsonPrimitive -> ToolResult.success(json.content)
            is JsonObject -> ToolResult.success(json.toString(), json)
            else -> ToolResult.success(json.toString())
        }
    }

    private fun refuseNotJson(json: JsonElement) {
        val lost = JsonValues.notJsonIn(json) ?: return
        throw IllegalArgumentException("the result cannot be passed on: it has $lost, which JSON does not have")
    }

    companion object {
        /** Numbers that JSON does not have are refused afterwards, with their place. */
        private val json = Json(Arguments.json) { allowSpecialFloatingPointValues = true }

        private val known = setOf(ToolResult::class, ActionResult::class, Unit::class, Nothing::class, TrailblazeToolResult::class)

        private fun isKnown(type: KType) = type.classifier in known

        /**
         * An exception as a result. The failure of a command keeps its kind, because some are never retried or repaired.
         *
         * @param tool Where the tool is, for an exception that does not tell: a function that only calls another one leaves no trace.
         */
        fun failure(thrown: Throwable, tool: String?): ToolResult {
            val text = DefinedTool.atPlace(messageOf(thrown), SourceLine.of(thrown) ?: tool)
            return when {
                thrown is AssertionError -> ToolResult.assertionFailed(text)
                thrown is ActionFailed && thrown.variant == "FatalError" -> ToolResult.fatalError(text)
                thrown is ApiError && thrown.code == Code.UNIMPLEMENTED -> ToolResult.unsupported(text)
                else -> ToolResult.failure(text)
            }
        }

        /** The result of a tool that started something which threw, and did not wait for it. */
        fun notAwaited(thrown: Throwable): ToolResult =
            ToolResult.failure(late("something that the tool did not wait for failed", thrown))

        /** What people are told of something that failed which no tool waited for. */
        fun late(text: String, thrown: Throwable): String {
            val hint = "\nhint: start it in a scope that the tool waits for, as in `coroutineScope { launch { … } }`"
            return DefinedTool.atPlace("$text: ${messageOf(thrown)}$hint", SourceLine.of(thrown))
        }

        /** What `error`, `check` and `require` throw: the message is the author's, and says it all. */
        private val plain = setOf(
            IllegalStateException::class, IllegalArgumentException::class, RuntimeException::class, Exception::class,
        )

        fun messageOf(thrown: Throwable): String {
            val isPlain = thrown::class in plain || thrown is AssertionError || thrown is ActionFailed || thrown is ApiError
            val name = thrown::class.simpleName ?: "an exception without a name"
            thrown.message?.takeIf { it.isNotBlank() }?.let { return if (isPlain) it else "$name: $it" }
            // Coroutines copy exceptions, with the original as the cause.
            val cause = thrown.cause?.takeIf { it::class != thrown::class } ?: return name
            return "$name: ${messageOf(cause)}"
        }

        /** The result as MCP sends it. */
        fun toMcp(result: ToolResult): CallToolResult = CallToolResult(
            content = listOfNotNull(result.text.takeIf { it.isNotEmpty() }?.let { TextContent(it) }) + result.attachments,
            isError = result.isError,
            structuredContent = result.structured,
            meta = result.meta(),
        )
    }
}
