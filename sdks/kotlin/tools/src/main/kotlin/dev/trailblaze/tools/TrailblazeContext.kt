package dev.trailblaze.tools

import dev.trailblaze.ApiError
import dev.trailblaze.Code
import dev.trailblaze.JsonValues
import dev.trailblaze.TrailblazeClient
import dev.trailblaze.TrailblazeCommands
import dev.trailblaze.TrailblazeDevicePlatform
import dev.trailblaze.testing.FakeDevice
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonPrimitive
import kotlinx.serialization.json.booleanOrNull
import kotlinx.serialization.json.intOrNull
import kotlin.coroutines.AbstractCoroutineContextElement
import kotlin.coroutines.CoroutineContext

/**
 * The context of one call of a tool. A tool gets it as a parameter; code that a tool calls asks [current] for it. It is made from the
 * `_meta` of the call alone, so calls for several devices can run at the same time.
 */
public class TrailblazeContext internal constructor(
    /** How [client] reaches the device. */
    public val mode: ExecutionMode,
    /** `_meta` of the call, as it was received. Empty in process. */
    public val meta: JsonObject,
    commands: (call: TrailblazeContext) -> TrailblazeCommands,
    private val notices: Notices,
) : AbstractCoroutineContextElement(TrailblazeContext) {
    private val received: JsonObject? = meta["trailblaze"] as? JsonObject

    /** The commands of the device that the tool was called for. When the call has ended, they throw an `ApiError`. */
    public val client: TrailblazeCommands by lazy(LazyThreadSafetyMode.PUBLICATION) { commands(this) }

    /** Whether Trailblaze made the call, and not another MCP client. */
    public val isTrailblaze: Boolean
        get() = received != null

    /** The id of the session. */
    public val sessionId: String
        get() = text("sessionId")

    /** The id of this call. It is valid until the tool returns. */
    public val invocationId: String
        get() = text("invocationId")

    /** The device that the tool was called for. */
    public val device: TrailblazeDevice
        get() = TrailblazeDevice.of(need("device")["device"] as? JsonObject ?: throw missing("device"))

    /** The memory of the session, as it was when the call began, with the changes of this call. */
    public val memory: ToolMemory = ToolMemory(received?.get("memory") as? JsonObject ?: JsonObject(emptyMap()), ::checkRunning)

    @Volatile
    private var endedTool: String? = null

    /** The first command that failed in a coroutine or thread that does not belong to the tool, which may not know. */
    @Volatile
    private var failedElsewhere: String? = null

    /** Whether this call may ask the model of the run: `client.askModel(…)`. */
    public val canAskModel: Boolean
        get() = ((received?.get("capabilities") as? JsonObject)?.get("sampling") as? JsonPrimitive)?.booleanOrNull == true

    /**
     * Adds a line to the log of the run.
     *
     * @throws ApiError if the call has ended.
     */
    @JvmOverloads
    public fun log(message: String, level: LogLevel = LogLevel.INFO) {
        checkRunning("log")
        notices.log(level, message)
    }

    /**
     * Reports progress. This also renews the idle timeout: a call that is silent for too long is cancelled.
     *
     * @throws ApiError if the call has ended.
     */
    public fun progress(message: String) {
        checkRunning("progress")
        notices.progress(message)
    }

    /** Throws, and tells people, if the call has ended: what threads or coroutines throw that nothing waits for is often lost. */
    private fun checkRunning(what: String) {
        val tool = endedTool ?: return
        val text = "`$tool` called `$what` after it had ended, so nothing was done"
        val late = ApiError(Code.NOT_FOUND, "$text; wait for everything that the tool starts before it returns")
        notices.warnLate(DefinedTool.atPlace(late.reason, SourceLine.of(late)))
        throw late
    }

    /** Keeps what a command threw, unless the tool itself called it. */
    private suspend fun failed(command: String, thrown: Throwable) {
        if (currentCoroutineContext()[TrailblazeContext] !== this && !thread.isCurrent() && failedElsewhere == null) {
            failedElsewhere = DefinedTool.atPlace("`$command` failed: ${Results.messageOf(thrown)}", SourceLine.of(thrown))
        }
    }

    /** Tells people why the tool may not have done what it says, although it passes. */
    internal fun tellDoubt(tool: String) {
        val failed = failedElsewhere ?: return
        notices.doubt("in a coroutine or thread that `$tool` had started, $failed; wait for it, and throw what it throws")
    }

    /** Tells people of something that failed after the call. */
    internal fun tellLate(text: String, isItsOwn: Boolean) {
        notices.warnLate(text, isItsOwn)
    }

    /** The thread that runs the code of the tool. */
    internal val thread = RunningThread()

    /** Lets a call begin. In process, one context may be used for several, one after the other. */
    internal fun begin() {
        endedTool = null
        failedElsewhere = null
    }

    /** Adds the changed memory to a result that succeeded, and ends the call: memory cannot be changed any more. */
    internal fun end(tool: String, result: ToolResult?): ToolResult? {
        endedTool = tool
        val changed = memory.end(result) ?: return null
        if (mode == ExecutionMode.IN_PROCESS && !changed.isError) {
            (client as? FakeDevice)?.memory?.let { memory ->
                memory.keys.removeAll(changed.forgotten)
                memory.putAll(changed.remembered.mapValues { (_, value) -> JsonValues.fromJson(value) })
            }
        }
        return changed
    }

    private fun text(name: String): String =
        (need(name)[name] as? JsonPrimitive)?.content?.takeIf { it.isNotEmpty() } ?: throw missing(name)

    private fun need(wanted: String): JsonObject = received ?: throw ApiError(
        Code.FAILED_PRECONDITION,
        "this tool needs Trailblaze for `$wanted`, and another MCP client called it",
    )

    private fun missing(name: String) =
        ApiError(Code.FAILED_PRECONDITION, "`_meta.trailblaze` of the call has no `$name`")

    public companion object Key : CoroutineContext.Key<TrailblazeContext> {
        /** The context of the call that the current coroutine belongs to. */
        public suspend fun current(): TrailblazeContext =
            currentOrNull() ?: throw IllegalStateException("no tool is being called by Trailblaze in this coroutine")

        /** The context of the call that the current coroutine belongs to, if any. */
        public suspend fun currentOrNull(): TrailblazeContext? = currentCoroutineContext()[TrailblazeContext]

        /**
         * A context for a tool that is called directly, as in a unit test. On a `FakeDevice`, its memory is that of the device.
         *
         * @param commands The device, such as a `FakeDevice`.
         * @param device What [TrailblazeContext.device] is.
         * @param memory Further values that are remembered when the call begins.
         */
        @JvmStatic
        @JvmOverloads
        public fun inProcess(
            commands: TrailblazeCommands,
            device: TrailblazeDevice = TrailblazeDevice(platform = commands.platform),
            memory: Map<String, Any?> = emptyMap(),
        ): TrailblazeContext {
            val fake = commands as? FakeDevice
            fake?.memory?.putAll(memory)
            val known = fake?.let { synchronized(it.memory) { it.memory.toMap() } } ?: memory
            return TrailblazeContext(ExecutionMode.IN_PROCESS, Envelope.of(device, known), { commands.checking(it) }, Notices.None)
        }

        /** The context of a call over MCP. */
        internal fun of(meta: JsonObject?, notices: Notices): TrailblazeContext = TrailblazeContext(
            ExecutionMode.RPC,
            meta ?: JsonObject(emptyMap()),
            { TrailblazeClient.fromMeta(meta).checking(it) },
            notices,
        )

        /** Commands of an author's own class are left as they are. */
        private fun TrailblazeCommands.checking(call: TrailblazeContext): TrailblazeCommands = when (this) {
            is FakeDevice -> checking(call::checkRunning, call::failed)
            is TrailblazeClient -> checking(call::checkRunning, call::failed)
            else -> this
        }
    }
}

/**
 * A device, as Trailblaze describes it with a call.
 *
 * @property id Its id, such as `android/sim-1`.
 * @property platform Its platform.
 * @property widthPixels The width of its screen.
 * @property heightPixels The height of its screen.
 * @property driverType The full key of its driver, such as `android-ondevice-accessibility`.
 */
public data class TrailblazeDevice(
    val id: String = "android/fake-1",
    val platform: TrailblazeDevicePlatform = TrailblazeDevicePlatform.ANDROID,
    val widthPixels: Int = 1080,
    val heightPixels: Int = 2400,
    val driverType: String = "android-ondevice-accessibility",
) {
    internal companion object {
        fun of(device: JsonObject): TrailblazeDevice {
            fun text(name: String) = (device[name] as? JsonPrimitive)?.content.orEmpty()
            fun number(name: String) = (device[name] as? JsonPrimitive)?.intOrNull ?: 0
            val platform = TrailblazeDevicePlatform.of(text("platform"))
            return TrailblazeDevice(text("id"), platform, number("widthPixels"), number("heightPixels"), text("driverType"))
        }
    }
}

/** How important a line of the log is, as in MCP. */
public enum class LogLevel { DEBUG, INFO, NOTICE, WARNING, ERROR, CRITICAL, ALERT, EMERGENCY }

/** Where the log lines and the progress of a call go. */
internal interface Notices {
    fun log(level: LogLevel, message: String)

    fun progress(message: String)

    /** Says why the tool may not have done what it says, although it passes. */
    fun doubt(message: String)

    /** Tells people of something that a tool did after its call had ended, or that it may have done. */
    fun warnLate(message: String, isItsOwn: Boolean = true)

    /** For calls in process. */
    object None : Notices {
        override fun log(level: LogLevel, message: String) = Unit

        override fun progress(message: String) = Unit

        override fun doubt(message: String) = System.err.println(message)

        override fun warnLate(message: String, isItsOwn: Boolean) = System.err.println(message)
    }
}
