package dev.trailblaze.tools

import io.modelcontextprotocol.kotlin.sdk.server.ClientConnection
import io.modelcontextprotocol.kotlin.sdk.shared.currentRequestHandlerExtra
import io.modelcontextprotocol.kotlin.sdk.types.CallToolRequest
import io.modelcontextprotocol.kotlin.sdk.types.LoggingLevel
import io.modelcontextprotocol.kotlin.sdk.types.LoggingMessageNotification
import io.modelcontextprotocol.kotlin.sdk.types.LoggingMessageNotificationParams
import io.modelcontextprotocol.kotlin.sdk.types.ProgressNotification
import io.modelcontextprotocol.kotlin.sdk.types.ProgressNotificationParams
import io.modelcontextprotocol.kotlin.sdk.types.ProgressToken
import io.modelcontextprotocol.kotlin.sdk.types.RequestId
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.launch
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonPrimitive

/** The log lines and the progress of one call, sent in order and before its result. */
internal class ConnectedNotices private constructor(
    private val tool: String,
    private val connection: ClientConnection,
    private val request: RequestId?,
    private val token: ProgressToken?,
    private val call: String?,
) : Notices {
    // What does not fit is dropped; Trailblaze records as many.
    private val queue = Channel<suspend () -> Unit>(NOTICES)
    private var step = 0

    /** The protocol has no place for the call that a message belongs to, and several may be in progress. */
    private val ofCall = token?.let { mapOf("progressToken" to json(it)) }.orEmpty()

    override fun log(level: LogLevel, message: String) = log(level, message, ofCall)

    override fun doubt(message: String) = log(LogLevel.WARNING, message, ofCall + DOUBT)

    private fun log(level: LogLevel, message: String, about: Map<String, JsonPrimitive>) {
        val meta = about.takeIf { it.isNotEmpty() }?.let(::JsonObject)
        val params = LoggingMessageNotificationParams(levels.getValue(level), JsonPrimitive(message), tool, meta)
        queue.trySend { connection.sendLoggingMessage(LoggingMessageNotification(params)) }
    }

    override fun warnLate(message: String, isItsOwn: Boolean) {
        System.err.println(message)
        val about = call?.takeIf { isItsOwn }?.let { "trailblazeFailedCall" to JsonPrimitive(it) } ?: DOUBT
        val params = LoggingMessageNotificationParams(LoggingLevel.Error, JsonPrimitive(message), tool, JsonObject(mapOf(about)))
        CoroutineScope(Dispatchers.IO).launch {
            runCatching { connection.sendLoggingMessage(LoggingMessageNotification(params)) }
        }
    }

    override fun progress(message: String) {
        val token = token ?: return
        queue.trySend {
            step += 1
            val params = ProgressNotificationParams(token, step.toDouble(), message = message)
            connection.notification(ProgressNotification(params), request)
        }
    }

    /** Sends until it is closed. A notification that cannot be sent does not fail the call. */
    suspend fun send() {
        for (notice in queue) {
            try {
                notice()
            } catch (cancelled: CancellationException) {
                throw cancelled
            } catch (problem: Exception) {
                System.err.println("$tool: ${problem.message}")
            }
        }
    }

    fun close() {
        queue.close()
    }

    companion object {
        private const val NOTICES = 1_000

        /** Marks a message that says why a tool may not have done what it says, although it passes. */
        private val DOUBT = "trailblazeDoubt" to JsonPrimitive(true)

        private val levels = LogLevel.entries.associateWith { level ->
            LoggingLevel.entries.first { it.name.equals(level.name, ignoreCase = true) }
        }

        private fun json(token: ProgressToken): JsonPrimitive = when (token) {
            is RequestId.StringId -> JsonPrimitive(token.value)
            is RequestId.NumberId -> JsonPrimitive(token.value)
        }

        suspend fun of(tool: String, connection: ClientConnection, request: CallToolRequest): ConnectedNotices =
            ConnectedNotices(
                tool,
                connection,
                currentRequestHandlerExtra()?.requestId,
                request.meta?.progressToken,
                ((request.meta?.json?.get("trailblaze") as? JsonObject)?.get("invocationId") as? JsonPrimitive)?.content,
            )
    }
}
