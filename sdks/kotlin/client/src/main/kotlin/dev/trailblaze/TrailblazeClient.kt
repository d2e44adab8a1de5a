package dev.trailblaze

import dev.trailblaze.messages.Device
import kotlin.time.Duration
import kotlinx.serialization.json.JsonObject

/**
 * Calls Trailblaze. Actions and assertions throw if they fail ([ActionFailed], [AssertionFailed]); queries return what they
 * found; a call that could not be carried out throws an [ApiError].
 *
 * Cancelling the coroutine of a call cancels the call. Clients are cheap, share their connections, and can be used by many
 * coroutines at once. In Java, use [BlockingTrailblazeClient].
 */
public class TrailblazeClient private constructor(
    private val target: Target,
    private val transport: HttpTransport,
    allow: CommandCheck = {},
    failed: FailureListener = { _, _ -> },
) : TrailblazeCommands by RemoteCommands(Calls(transport, allow, failed), target.platform) {
    internal constructor(target: Target) : this(target, HttpTransport(target))

    /**
     * Creates a client. Without an address, id or key, it uses the session of this user's daemon that TRAILBLAZE_SESSION
     * names, or the only one that is open.
     *
     * @param address Where Trailblaze listens, such as `localhost:52525`. In a tool server that Trailblaze started, a client
     * without [invocationId] or [key] always uses the address in TRAILBLAZE_BASE_URL.
     * @param invocationId The tool call on whose behalf the client acts.
     * @param key The key of a session, as in the key file of `trailblaze serve`.
     * @param sessionId The session.
     * @param deviceId The device.
     * @param platform The device's platform, if known.
     * @param timeout How long a call may take (default: 630 seconds; Trailblaze answers within 600).
     */
    public constructor(
        address: String? = null,
        invocationId: String? = null,
        key: String? = null,
        sessionId: String? = null,
        deviceId: String? = null,
        platform: TrailblazeDevicePlatform = TrailblazeDevicePlatform.UNKNOWN,
        timeout: Duration? = null,
    ) : this(Target(address, invocationId, key, sessionId, deviceId, platform, timeout))

    /** The id of the device, such as android/sim-1, if known. */
    public val deviceId: String? get() = target.deviceId

    /** The id of the session, if known. */
    public val sessionId: String? get() = target.sessionId

    /** The id of the tool call on whose behalf this client acts. */
    public val invocationId: String? get() = target.invocationId

    /** What Trailblaze remembered when it called the tool, without secrets. [dumpMemory] asks for it now. */
    public val memory: Map<String, Any?> get() = target.memory

    /** The device as it was when Trailblaze called the tool. Null outside of a tool. */
    public val device: Device? get() = target.device

    /**
     * The same client, which asks [allow] before each command with its name, or with that of the tool that `callTool` calls. What
     * [allow] throws is thrown to the caller, and the command is not carried out. [failed] is told what a command throws, in the
     * coroutine that called it.
     */
    public fun checking(
        allow: (name: String) -> Unit,
        failed: suspend (name: String, thrown: Throwable) -> Unit = { _, _ -> },
    ): TrailblazeClient = TrailblazeClient(target, transport, allow, failed)

    override fun toString(): String = "TrailblazeClient(${transport.known()?.address ?: ""})"

    public companion object {
        /**
         * The client of a tool call: it acts on the device that the tool was called for. If an agent started the tool server
         * by itself, that is the device of the session of this user's daemon, as for a client without arguments.
         *
         * @param meta The `_meta` of the request.
         * @param timeout How long a call may take.
         * @throws ContextError if Trailblaze started this server but did not make the request.
         */
        public fun fromMeta(meta: JsonObject?, timeout: Duration? = null): TrailblazeClient =
            TrailblazeClient(Target.ofMeta(meta, timeout))

        /**
         * The client of a tool call, from the value of its argument `_trailblaze`.
         *
         * @param context The value of the argument.
         * @param timeout How long a call may take.
         */
        public fun fromContext(context: JsonObject, timeout: Duration? = null): TrailblazeClient =
            TrailblazeClient(Target.ofContext(context, timeout))
    }
}
