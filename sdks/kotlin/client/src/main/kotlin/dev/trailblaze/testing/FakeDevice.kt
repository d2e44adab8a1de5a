package dev.trailblaze.testing

import dev.trailblaze.ApiError
import dev.trailblaze.Calls
import dev.trailblaze.Code
import dev.trailblaze.JsonValues
import dev.trailblaze.Names
import dev.trailblaze.RemoteCommands
import dev.trailblaze.TrailblazeCommands
import dev.trailblaze.TrailblazeDevicePlatform
import dev.trailblaze.Transport
import dev.trailblaze.messages.Bounds
import dev.trailblaze.messages.Element
import dev.trailblaze.messages.ScreenState
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.emptyFlow
import kotlinx.serialization.json.JsonObject
import java.util.Collections

/**
 * A device for unit tests of tools: it shows what a test tells it, and keeps the calls that it got. Nothing else runs.
 *
 * ```kotlin
 * val device = FakeDevice()
 * device.show("Email", "Sign in")
 * device.on("tap") { call -> if (call.args["text"] == "Sign in") show("Welcome") }
 *
 * MyAppToolSet(device).login("ada@example.com")
 *
 * assertEquals(listOf("tap", "inputText", "tap"), device.calls.map { it.tool })
 * ```
 *
 * As on a device, an action on an element that is not shown throws `ActionFailed`, an assertion about one throws
 * `AssertionFailed`, and a query returns what it found. A call by name of a built-in tool whose arguments a device would refuse is
 * refused. So is a command of a tool whose call has ended, if `ToolServer.call` made it. Nothing waits: a timeout is over at once.
 */
public class FakeDevice private constructor(
    platform: TrailblazeDevicePlatform,
    private val state: FakeState,
    private val allow: (name: String) -> Unit = {},
    failed: suspend (name: String, thrown: Throwable) -> Unit = { _, _ -> },
) : TrailblazeCommands by RemoteCommands(Calls(state, allow, failed), platform) {
    /** A device of this platform, with an empty screen. */
    @JvmOverloads
    public constructor(platform: TrailblazeDevicePlatform = TrailblazeDevicePlatform.ANDROID) :
        this(platform, FakeState(platform))

    /** The calls so far. */
    public val calls: List<FakeCall> get() = state.calls()

    /** The texts of the calls of `inputText` so far. */
    public val typed: List<String> get() = calls.filter { it.tool == "inputText" }.mapNotNull { it.args["text"] as? String }

    /**
     * What is remembered: texts, numbers, booleans, lists and maps. A test may change it, which is not kept as a call. Tools that are
     * called on this device see it as their memory, and what they remember is added to it when they succeed.
     */
    public val memory: MutableMap<String, Any?> get() = state.memory

    /** Shows elements with these texts, from top to bottom, and nothing else. */
    public fun show(vararg texts: String) {
        val rows = texts.mapIndexed { row, text ->
            Element(role = "text", text = text, enabled = true, bounds = Bounds(0, row * ROW, WIDTH, (row + 1) * ROW))
        }
        show(rows)
    }

    /** Shows these elements, and nothing else. */
    public fun show(elements: List<Element>) {
        state.show(elements)
    }

    /**
     * Decides what happens when a tool is called, such as `tap` or a tool of your own for `callTool`. [react] runs before the
     * tool's own effect; what it returns is the tool's value, unless that is `Unit` or null. What it throws is thrown to the
     * caller. A later reaction to the same tool replaces an earlier one.
     */
    public fun on(tool: String, react: FakeDevice.(FakeCall) -> Any?) {
        state.on(tool) { call -> react(this, call) }
    }

    /** The same device, which asks [allow] before each command and tells [failed], as `TrailblazeClient.checking` does. */
    public fun checking(
        allow: (name: String) -> Unit,
        failed: suspend (name: String, thrown: Throwable) -> Unit = { _, _ -> },
    ): FakeDevice = FakeDevice(platform, state, allow, failed)

    override suspend fun captureScreen(picture: Boolean?): ScreenState {
        allow("captureScreen")
        state.react("captureScreen", mapOf("picture" to picture).filterValues { it != null })
        return ScreenState(platform = platform.word, width = WIDTH, height = HEIGHT, root = state.root())
    }

    private companion object {
        const val ROW = 100
    }
}

private const val WIDTH = 1080
private const val HEIGHT = 2400

/**
 * A call of a tool.
 *
 * @property tool The name of the tool, such as `tap`.
 * @property args The arguments that were given.
 */
public data class FakeCall(public val tool: String, public val args: Map<String, Any?>)

/** What a fake device shows, knows and was asked. Calls may come from many threads. */
internal class FakeState(platform: TrailblazeDevicePlatform) : Transport {
    private val device = mapOf(
        "id" to "${platform.word}/fake",
        "platform" to platform.word,
        "driver" to "fake",
        "width" to WIDTH,
        "height" to HEIGHT,
    )
    private val lock = Any()
    private val calls = mutableListOf<FakeCall>()
    private val reactions = mutableMapOf<String, (FakeCall) -> Any?>()
    val memory: MutableMap<String, Any?> = Collections.synchronizedMap(LinkedHashMap())
    private var elements = emptyList<Element>()

    fun calls(): List<FakeCall> = synchronized(lock) { calls.toList() }

    fun show(elements: List<Element>) = synchronized(lock) { this.elements = elements.toList() }

    fun root(): Element = Element(role = "screen", enabled = true, children = synchronized(lock) { elements })

    fun on(tool: String, react: (FakeCall) -> Any?) = synchronized(lock) { reactions[tool] = react }

    /** Keeps a call, and lets the test react to it. Returns its value; null if it has none. */
    fun react(tool: String, args: Map<String, Any?>): Any? {
        val call = FakeCall(tool, args)
        val reaction = synchronized(lock) {
            calls += call
            reactions[tool]
        }
        return reaction?.invoke(call).takeUnless { it == Unit }
    }

    override suspend fun call(method: String, params: JsonObject): JsonObject {
        val tool = method.substringAfter('/').replaceFirstChar(Char::lowercase)
        val args = params.mapValues { (_, value) -> JsonValues.fromJson(value) }
        // The elements before the test reacts: a tap on what was shown succeeds, even if it leads to another screen.
        val shown = root()
        return if (tool == "callTool") callTool(args, shown) else answer(tool, args, react(tool, args), shown)
    }

    override fun stream(method: String, params: JsonObject): Flow<JsonObject> = emptyFlow()

    private fun answer(tool: String, args: Map<String, Any?>, value: Any?, shown: Element): JsonObject = when (tool) {
        "tap" -> if (isAimedAtNothing(args) || find(shown, args).any()) done() else failed(missing(args))
        "assertVisible", "waitUntilVisible" -> check(value as? Boolean, args, shown)
        "isVisible" -> json("value" to (value ?: find(root(), args).any()))
        "hasText" -> json("value" to (value ?: hasText(args["text"].toString())))
        "getElementText" -> json("value" to (value ?: find(root(), args).firstOrNull()?.text))
        "getElementCount" -> json("value" to (value ?: find(root(), args).count()))
        "remember" -> done().also { memory[args["variable"].toString()] = args["value"] }
        "forget" -> done().also { memory.remove(args["variable"]) }
        "dumpMemory" -> json("value" to synchronized(memory) { memory.toMap() })
        "adbShell" -> json("success" to true, "output" to value)
        "evaluateJs" -> json("success" to true, "value" to value)
        "getSession" -> json("sessionId" to "fake", "device" to device)
        "listDevices" -> json("number" to 1, "devices" to listOf(device))
        "askModel" -> if (value == null) throw noModel() else json("text" to value, "model" to "fake")
        else -> if (value is Map<*, *>) json("success" to true) + value else done()
    }

    /** The commands can be called by their names too. Other tools are what the test says they are. */
    private fun callTool(args: Map<String, Any?>, shown: Element): JsonObject {
        val tool = args["name"].toString()
        val inner = (args["args"] as? Map<*, *>).orEmpty().entries.associate { (name, value) -> name.toString() to value }
        checkArguments(tool, inner)
        if (tool in COMMANDS) return answer(tool, inner, react(tool, inner), shown)
        if (synchronized(lock) { tool !in reactions }) {
            return failed("unknown tool `$tool`; a test says with `device.on(\"$tool\") { … }` what it does")
        }
        val value = react(tool, inner)
        return json("success" to true, "message" to (value as? String), "structured" to value)
    }

    /** Refuses the arguments of a built-in tool that a device would refuse. Nothing is known about other tools. */
    private fun checkArguments(tool: String, args: Map<String, Any?>) {
        val known = builtInTools[tool] ?: return
        val missing = known.filter { (name, argument) -> argument.isRequired && args[name] == null }.keys
        val problems = missing.map { "missing argument `$it`" } +
            args.keys.filter { it !in known }.map { Names.unknown("argument", it, known.keys) } +
            known.mapNotNull { (name, argument) -> args[name]?.let { argument.problem(it) }?.let { "`$name`: $it" } }
        if (problems.isNotEmpty()) throw ApiError(Code.INVALID_ARGUMENT, "`$tool`: ${problems.joinToString("; ")}")
    }

    private fun check(value: Boolean?, args: Map<String, Any?>, shown: Element): JsonObject {
        val expected = args["expectedText"]
        val isShown = value ?: (find(shown, args) + find(root(), args)).any { expected == null || it.text == expected }
        return if (isShown) done() else failed(missing(args), "AssertionFailed")
    }

    private fun hasText(text: String): Boolean =
        root().walk().any { it.text.orEmpty().contains(text) || it.label.orEmpty().contains(text) }

    private fun find(root: Element, args: Map<String, Any?>): Sequence<Element> {
        val (text, id, ref) = listOf("text", "id", "ref").map { args[it] as? String }
        val (x, y) = listOf("x", "y").map { args[it] as? Int }
        val found = root.walk().drop(1).filter { element ->
            (text == null || element.text == text || element.label == text) &&
                (id == null || element.hasId(id)) &&
                (ref == null || element.ref == ref) &&
                (x == null || y == null || element.bounds?.contains(x, y) == true)
        }
        return found.drop(args["index"] as? Int ?: 0)
    }

    /** A point need not have an element. */
    private fun isAimedAtNothing(args: Map<String, Any?>): Boolean = listOf("text", "id", "ref").none(args::containsKey)

    private fun missing(args: Map<String, Any?>): String {
        val wanted = args.filterKeys { it in setOf("text", "id", "ref", "index", "expectedText") }
        val shown = root().walk().mapNotNull { it.text }.joinToString { "`$it`" }.ifEmpty { "nothing" }
        return "no element with ${wanted.entries.joinToString { (name, value) -> "$name `$value`" }} is visible; " +
            "the fake device shows $shown"
    }

    private fun done(): JsonObject = json("success" to true, "message" to "done")

    private fun failed(message: String, variant: String = "ExceptionThrown"): JsonObject =
        json("success" to false, "message" to message, "variant" to variant)

    private fun noModel(): ApiError =
        ApiError(Code.FAILED_PRECONDITION, "no model; a test says with `device.on(\"askModel\") { \"…\" }` what it replies")

    private fun json(vararg fields: Pair<String, Any?>): JsonObject =
        JsonObject(fields.filter { it.second != null }.associate { (name, value) -> name to JsonValues.toJson(value) })

    private operator fun JsonObject.plus(more: Map<*, *>): JsonObject =
        JsonObject(this + more.entries.associate { (name, value) -> name.toString() to JsonValues.toJson(value) })

    private companion object {
        val COMMANDS = setOf("tap", "inputText", "launchApp", "clearAppData", "assertVisible", "waitUntilVisible", "remember", "forget")

        /** The arguments of each built-in tool. */
        val builtInTools: Map<String, Map<String, KnownArgument>> by lazy {
            BUILT_IN_TOOLS.trim().lines().map { it.split(' ') }.associate { words ->
                words.first() to words.drop(1).associate(KnownArgument::read)
            }
        }
    }
}

/** An argument of a built-in tool. It accepts a type of JSON Schema, words such as `UP|DOWN`, or anything. */
private class KnownArgument(val isRequired: Boolean, private val accepted: String) {
    /** Why a device would refuse a value. Null if it would not. */
    fun problem(value: Any): String? {
        val isAccepted = when (accepted) {
            "" -> true
            "string" -> value is String
            "integer" -> value is Int || value is Long || (value is Double && value % 1.0 == 0.0)
            "number" -> value is Number
            "boolean" -> value is Boolean
            "object" -> value is Map<*, *>
            "array" -> value is List<*>
            else -> {
                val words = accepted.split('|')
                if (words.any { it.equals(value as? String, ignoreCase = true) }) return null
                return "${JsonValues.toJson(value)} is not one of ${words.joinToString { "\"$it\"" }}"
            }
        }
        return if (isAccepted) null else "${JsonValues.toJson(value)} is not of type \"$accepted\""
    }

    companion object {
        fun read(word: String): Pair<String, KnownArgument> {
            val name = word.substringBefore(':')
            return name.removeSuffix("!") to KnownArgument(name.endsWith('!'), word.substringAfter(':', ""))
        }
    }
}
