package dev.trailblaze.tools

import dev.trailblaze.JsonValues
import io.modelcontextprotocol.kotlin.sdk.types.ContentBlock
import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.add
import kotlinx.serialization.json.buildJsonObject
import kotlinx.serialization.json.put
import kotlinx.serialization.json.putJsonArray
import kotlinx.serialization.json.putJsonObject

/**
 * What a tool returns. The functions of its companion make one.
 *
 *     return ToolResult.success("made $email").remember("email", email)
 *
 * @property text What people and models read.
 * @property structured What programs read.
 * @property variant `Success`, or the kind of failure: `ExceptionThrown`, `FatalError`, `AssertionFailed`, `MissingRequiredArgs`,
 *   `Unsupported`.
 * @property missing The names of missing arguments.
 * @property remembered The values to remember, by name.
 * @property forgotten The names of values to forget.
 * @property attachments Pictures, sounds and resources, which are shown with the call in the report.
 */
@ConsistentCopyVisibility
public data class ToolResult internal constructor(
    val text: String,
    val structured: JsonObject? = null,
    val variant: String = SUCCESS,
    val missing: List<String> = emptyList(),
    val remembered: Map<String, JsonElement> = emptyMap(),
    val forgotten: Set<String> = emptySet(),
    val attachments: List<ContentBlock> = emptyList(),
) {
    /** Whether the tool failed. */
    public val isError: Boolean
        get() = variant != SUCCESS

    /** The calls that Trailblaze is to make instead. */
    public val delegates: List<Delegate>
        get() = Delegate.of(structured)

    /** The same result, and a value to remember: a text, number, boolean, list or map. Later steps can use it as `{{name}}`. */
    public fun remember(name: String, value: Any?): ToolResult =
        copy(remembered = remembered + (name to ToolMemory.toRemember(name, value)), forgotten = forgotten - name)

    /** The same result, and a value to forget. */
    public fun forget(name: String): ToolResult = copy(remembered = remembered - name, forgotten = forgotten + name)

    /** The same result, and a picture, sound or resource, such as `ImageContent(base64, "image/png")`. */
    public fun attach(attachment: ContentBlock): ToolResult = copy(attachments = attachments + attachment)

    /** The `_meta` of the result. */
    internal fun meta(): JsonObject = buildJsonObject {
        putJsonObject("trailblaze") {
            put("variant", variant)
            if (missing.isNotEmpty()) putJsonArray("missing") { missing.forEach { add(it) } }
            if (!isError) {
                if (remembered.isNotEmpty()) put("memoryDelta", JsonObject(remembered))
                if (forgotten.isNotEmpty()) putJsonArray("memoryDeletions") { forgotten.forEach { add(it) } }
            }
        }
    }

    public companion object {
        internal const val SUCCESS: String = "Success"

        /**
         * The tool succeeded.
         *
         * @param text What people and models read.
         * @param structured What programs read.
         */
        @JvmStatic
        @JvmOverloads
        public fun success(text: String = "", structured: JsonObject? = null): ToolResult = ToolResult(text, structured)

        /** The tool failed. */
        @JvmStatic
        public fun failure(text: String): ToolResult = ToolResult(text, variant = "ExceptionThrown")

        /** The tool failed and the trail must end. Never retried or repaired. */
        @JvmStatic
        public fun fatalError(text: String): ToolResult = ToolResult(text, variant = "FatalError")

        /** A check failed. Never repaired. */
        @JvmStatic
        public fun assertionFailed(text: String): ToolResult = ToolResult(text, variant = "AssertionFailed")

        /** The device does not support this. */
        @JvmStatic
        public fun unsupported(text: String): ToolResult = ToolResult(text, variant = "Unsupported")

        /** Arguments are missing. */
        @JvmStatic
        @JvmOverloads
        public fun missingRequiredArgs(missing: List<String>, text: String? = null): ToolResult = ToolResult(
            text ?: "missing required arguments: ${missing.joinToString { "`$it`" }}",
            variant = "MissingRequiredArgs",
            missing = missing,
        )

        /** Delegates to other tools, which Trailblaze calls in order and records instead of this one. */
        @JvmStatic
        @JvmOverloads
        public fun delegates(calls: List<Delegate>, text: String? = null): ToolResult = ToolResult(
            text ?: "delegated to ${calls.joinToString { "`${it.tool}`" }.ifEmpty { "no tool" }}",
            Delegate.toStructured(calls),
        )

        /** Delegates to other tools, which Trailblaze calls in order and records instead of this one. */
        public fun delegates(vararg calls: Delegate): ToolResult = delegates(calls.toList())
    }
}

/**
 * A call that Trailblaze makes, and records instead of the tool's own.
 *
 *     ToolResult.delegates(Delegate("tap", "text" to "Sign in"))
 *
 * @property tool The name of the tool.
 * @property args Its arguments: texts, numbers, booleans, lists and maps.
 */
public data class Delegate(val tool: String, val args: Map<String, Any?> = emptyMap()) {
    public constructor(tool: String, vararg args: Pair<String, Any?>) : this(tool, args.toMap())

    init {
        require(tool.isNotEmpty()) { "a delegate needs the name of a `tool`" }
    }

    internal companion object {
        private const val KEY = "_trailblaze_delegates"

        fun toStructured(calls: List<Delegate>): JsonObject = buildJsonObject {
            putJsonArray(KEY) {
                for (call in calls) {
                    add(
                        buildJsonObject {
                            put("tool", call.tool)
                            put("args", JsonValues.toJson(call.args))
                        },
                    )
                }
            }
        }

        fun of(structured: JsonObject?): List<Delegate> {
            val calls = structured?.get(KEY)?.let { JsonValues.fromJson(it) } as? List<*> ?: return emptyList()
            return calls.filterIsInstance<Map<*, *>>().map { call ->
                val args = (call["args"] as? Map<*, *>).orEmpty().entries.associate { (name, value) -> name.toString() to value }
                Delegate(call["tool"].toString(), args)
            }
        }
    }
}
