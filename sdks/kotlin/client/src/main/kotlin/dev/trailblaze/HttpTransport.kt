package dev.trailblaze

import java.net.http.HttpResponse
import java.nio.ByteBuffer
import kotlin.time.Duration
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.flow
import kotlinx.coroutines.sync.Mutex
import kotlinx.coroutines.sync.withLock
import kotlinx.serialization.SerializationException
import kotlinx.serialization.json.Json
import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.JsonNull
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonPrimitive

/** Makes calls in Connect's JSON. */
internal class HttpTransport(private val target: Target) : Transport {
    @Volatile
    private var found: Endpoint? = target.endpoint
    private val finding = Mutex()

    /** The endpoint, once it is known. */
    fun known(): Endpoint? = found

    override suspend fun call(method: String, params: JsonObject): JsonObject {
        val endpoint = endpoint()
        return explaining(endpoint) {
            val response = Http.post(
                endpoint.address,
                "/$PACKAGE.$method",
                headers(endpoint, "application/json"),
                message(params),
                timeoutMs(),
            ) { WholeBody() }
            if (response.statusCode() != OK) throw errorOf(endpoint.address, response.statusCode(), response.body())
            parse(response.body(), "the response")
        }
    }

    override fun stream(method: String, params: JsonObject): Flow<JsonObject> = flow {
        val endpoint = endpoint()
        val body = message(params)
        val envelope = ByteBuffer.allocate(ENVELOPE + body.size).put(0).putInt(body.size).put(body).array()
        val response = explaining(endpoint) {
            // A stream may last, but it must begin.
            val headers = headers(endpoint, STREAM)
            Http.post(endpoint.address, "/$PACKAGE.$method", headers, envelope, timeoutMs(), ::streamOrWhole)
        }
        val stream = response.body() as? StreamBody
            ?: throw explained(endpoint, errorOf(endpoint.address, response.statusCode(), response.body() as ByteArray))
        try {
            while (true) {
                val (flags, message) = explaining(endpoint) {
                    stream.next() ?: throw ApiError(Code.UNAVAILABLE, "the stream ended without its last message")
                }
                if (flags and IS_LAST != 0) {
                    val error = parse(message, "the end of the stream")["error"]
                    if (error != null && error !is JsonNull) throw errorFrom(error as? JsonObject ?: JsonObject(emptyMap()))
                    break
                }
                emit(parse(message, "a message of the stream"))
            }
        } finally {
            stream.cancel()
        }
    }

    /** Calls that begin at the same time look for the session once. If there is none, the next call looks again. */
    private suspend fun endpoint(): Endpoint = found ?: finding.withLock {
        found ?: findSession(target.environment, timeoutMs()).also { found = it }
    }

    private fun headers(endpoint: Endpoint, type: String): Map<String, String> = buildMap {
        put("Content-Type", type)
        put("Connect-Protocol-Version", "1")
        endpoint.key?.let { put("Authorization", "Bearer $it") }
        // The end of a stream is left to its reader.
        if (type != STREAM) target.timeout?.let { put("Connect-Timeout-Ms", millis(it).coerceAtMost(MAX_TIMEOUT_MS).toString()) }
    }

    private fun message(params: JsonObject): ByteArray = JsonObject(target.ids + params).toString().toByteArray()

    private fun timeoutMs(): Long = millis(target.timeout ?: Target.DEFAULT_TIMEOUT)

    private fun millis(timeout: Duration): Long = timeout.inWholeMilliseconds.coerceAtLeast(1)

    private inline fun <T> explaining(endpoint: Endpoint, call: () -> T): T = try {
        call()
    } catch (error: ApiError) {
        throw explained(endpoint, error)
    }

    /** The error of a call, with the reason if its session was found in a daemon and is gone. */
    private fun explained(endpoint: Endpoint, error: ApiError): ApiError {
        if (endpoint.session == null || (error.code != Code.UNAUTHENTICATED && error !is ConnectionFailed)) return error
        return error.because(
            "session `${endpoint.session}` has ended, or its daemon has: ${error.reason}; " +
                "`trailblaze device connect` opens one, and a new client uses it",
        )
    }

    private companion object {
        const val PACKAGE = "trailblaze.v1"
        const val STREAM = "application/connect+json"
        const val OK = 200
        const val ENVELOPE = 5
        const val IS_LAST = 2
        const val MAX_TIMEOUT_MS = 9_999_999_999

        fun streamOrWhole(info: HttpResponse.ResponseInfo): HttpResponse.BodySubscriber<Any> {
            val type = info.headers().firstValue("content-type").orElse("").substringBefore(';').trim()
            @Suppress("UNCHECKED_CAST") // A subscriber only produces its body.
            return (if (info.statusCode() == OK && type == STREAM) StreamBody() else WholeBody()) as HttpResponse.BodySubscriber<Any>
        }
    }
}

/** A JSON object. */
internal fun parse(body: ByteArray, what: String): JsonObject = when (val json = parseOrNull(body)) {
    is JsonObject -> json
    null -> throw ApiError(Code.INTERNAL, "$what is not JSON: ${excerpt(body.decodeToString())}")
    else -> throw ApiError(Code.INTERNAL, "$what is not a JSON object: ${excerpt(body.decodeToString())}")
}

internal fun parseOrNull(body: ByteArray): JsonElement? = try {
    Json.parseToJsonElement(body.decodeToString())
} catch (_: SerializationException) {
    null
} catch (_: StackOverflowError) {
    throw ApiError(Code.RESOURCE_EXHAUSTED, "the response is nested too deeply")
}

/** The error of a response that is not a success. */
private fun errorOf(address: Address, status: Int, body: ByteArray): ApiError {
    val error = parseOrNull(body) as? JsonObject
    if (error != null && "code" in error) return errorFrom(error)
    val code = when (status) {
        400 -> Code.INTERNAL
        401 -> Code.UNAUTHENTICATED
        403 -> Code.PERMISSION_DENIED
        404 -> Code.UNIMPLEMENTED
        429, 502, 503, 504 -> Code.UNAVAILABLE
        else -> Code.UNKNOWN
    }
    val text = excerpt(body.decodeToString())
    return ApiError(code, "$address answered with HTTP status $status: $text; is Trailblaze listening at this address?")
}

/** An error in Connect's JSON. */
private fun errorFrom(error: JsonObject): ApiError {
    val word = (error["code"] as? JsonPrimitive)?.content
    val message = (error["message"] as? JsonPrimitive)?.takeIf { it.isString }?.content.orEmpty()
    val reason = message.ifEmpty { word ?: error["code"].toString() }
    return when (val code = Code.of(word)) {
        null -> ApiError(Code.UNKNOWN, reason)
        Code.DEADLINE_EXCEEDED -> DeadlineExceeded(reason)
        else -> ApiError(code, reason)
    }
}
