package dev.trailblaze

import dev.trailblaze.messages.Device
import java.util.concurrent.ConcurrentHashMap
import kotlin.time.Duration
import kotlin.time.Duration.Companion.seconds
import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.JsonNull
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonPrimitive

/** How a client reads variables of its environment. */
internal typealias Environment = (name: String) -> String?

internal val PROCESS: Environment = { name -> System.getenv(name)?.ifEmpty { null } }

/** The variable that a tool server finds the address of its Trailblaze in. */
internal const val BASE_URL = "TRAILBLAZE_BASE_URL"

/** Which Trailblaze a client calls, and on whose behalf. */
internal class Target(
    address: String? = null,
    val invocationId: String? = null,
    key: String? = null,
    val sessionId: String? = null,
    val deviceId: String? = null,
    val platform: TrailblazeDevicePlatform = TrailblazeDevicePlatform.UNKNOWN,
    val timeout: Duration? = null,
    /** What Trailblaze remembered when it made the request. */
    val memory: Map<String, Any?> = emptyMap(),
    /** The device as the request described it. */
    val device: Device? = null,
    val environment: Environment = PROCESS,
) {
    /** Null if the first call looks for a session of this user's daemon. */
    val endpoint: Endpoint?

    /** The ids, as in every request. */
    val ids: Map<String, JsonElement> = buildMap {
        for ((name, id) in mapOf("deviceId" to deviceId, "sessionId" to sessionId, "invocationId" to invocationId)) {
            if (!id.isNullOrEmpty()) put(name, JsonPrimitive(id))
        }
    }

    init {
        require(timeout == null || timeout.isPositive()) { "`timeout` must be more than 0 seconds, got $timeout" }
        // A key file ends with a line break.
        val bare = key?.trim()
        require(bare == null || (bare.isNotEmpty() && bare.all { it in ' '..'~' })) {
            "`key` is not a session key; `trailblaze serve` prints the path of the file that has it"
        }
        val isKnown = !address.isNullOrEmpty() || !invocationId.isNullOrEmpty() || bare != null || environment(BASE_URL) != null
        val hasId = !invocationId.isNullOrEmpty() || bare != null
        endpoint = if (isKnown) Endpoint(choose(address?.ifEmpty { null }, hasId), bare) else null
    }

    /**
     * The address to use. Inside a tool server, a client without an id reaches the Trailblaze that started the server, so
     * that it cannot act on the devices of another run.
     */
    private fun choose(address: String?, hasId: Boolean): Address {
        val given = address?.let(Address::parse)
        val own = environment(BASE_URL) ?: return given ?: Address.parse(DEFAULT_ADDRESS)
        if (given != null && hasId) return given
        val ours = Address.parse(own)
        if (given != null && !given.isSamePlace(ours) && said.add(given.toString())) {
            System.err.println(
                "trailblaze: using $own, which started this server, instead of $address; " +
                    "`TrailblazeClient.fromMeta(meta)` needs no address",
            )
        }
        return ours
    }

    companion object {
        private const val DEFAULT_ADDRESS = "http://localhost:52525"

        /** Trailblaze answers within ten minutes. */
        val DEFAULT_TIMEOUT: Duration = 630.seconds

        private val said: MutableSet<String> = ConcurrentHashMap.newKeySet()

        /** What the `_meta` of a request says. Without `trailblaze` in it, another program than Trailblaze made the request. */
        fun ofMeta(meta: JsonObject?, timeout: Duration?, environment: Environment = PROCESS): Target {
            val about = meta?.get("trailblaze") as? JsonObject
            val invocation = (meta?.get("trailblazeInvocationId") as? JsonPrimitive)?.takeIf { it.isString }
            if (about == null && invocation == null) {
                if (environment(BASE_URL) == null) return Target(timeout = timeout, environment = environment)
                throw ContextError(
                    "this request was not made by Trailblaze: its `_meta` has no `trailblaze`; " +
                        "call the tool from a trail, or with `trailblaze tool`",
                )
            }
            val context = about.orEmpty()
            val isNamed = invocation == null || "invocationId" in context
            return ofContext(JsonObject(if (isNamed) context else context + ("invocationId" to invocation)), timeout, environment)
        }

        /** What the argument `_trailblaze` of a tool says, or `_meta.trailblaze`. */
        fun ofContext(context: JsonObject, timeout: Duration?, environment: Environment = PROCESS): Target {
            fun text(name: String): String? = when (val value = context[name]) {
                null, JsonNull -> null
                is JsonPrimitive if value.isString -> value.content.ifEmpty { null }
                else -> throw IllegalArgumentException("`$name` of the context must be a text, got ${excerpt(value.toString())}")
            }
            val device = context["device"] as? JsonObject
            fun ofDevice(name: String): String? =
                (device?.get(name) as? JsonPrimitive)?.takeIf { it.isString }?.content?.ifEmpty { null }
            fun pixels(name: String): Int = (device?.get(name) as? JsonPrimitive)?.content?.toDoubleOrNull()?.toInt() ?: 0
            val deviceId = text("deviceId") ?: ofDevice("id")
            val platform = text("platform") ?: ofDevice("platform")
            return Target(
                address = text("baseUrl"),
                invocationId = text("invocationId"),
                sessionId = text("sessionId"),
                deviceId = deviceId,
                platform = TrailblazeDevicePlatform.of(platform),
                timeout = timeout,
                memory = (context["memory"] as? JsonObject).orEmpty().mapValues { (_, value) -> JsonValues.fromJson(value) },
                device = device?.let {
                    Device(
                        id = deviceId.orEmpty(),
                        platform = platform.orEmpty().lowercase(),
                        driver = ofDevice("driverType").orEmpty(),
                        width = pixels("widthPixels"),
                        height = pixels("heightPixels"),
                    )
                },
                environment = environment,
            )
        }
    }
}

/**
 * An address, with what is needed there.
 *
 * @property session The name of the session, if it was found in a daemon.
 */
internal class Endpoint(val address: Address, val key: String?, val session: String? = null)
