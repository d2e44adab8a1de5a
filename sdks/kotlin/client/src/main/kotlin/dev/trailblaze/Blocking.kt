package dev.trailblaze

import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.cancel
import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.channels.ReceiveChannel
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.buffer
import kotlinx.coroutines.flow.produceIn
import kotlinx.coroutines.runBlocking

/** Waits for a call. */
internal fun <T> blocking(call: suspend () -> T): T = try {
    runBlocking { call() }
} catch (interruption: InterruptedException) {
    Thread.currentThread().interrupt()
    throw ApiError(Code.CANCELED, "the thread was interrupted, and the call was cancelled", interruption)
}

/** The messages of a stream, for callers that block. [next] waits for a message. Close it to end the stream. */
public class BlockingStream<T : Any> internal constructor(messages: Flow<T>) : Iterator<T>, AutoCloseable {
    private val scope = CoroutineScope(Dispatchers.Default)
    private val channel: ReceiveChannel<T> = messages.buffer(Channel.RENDEZVOUS).produceIn(scope)
    private var waiting: T? = null

    /** Waits until there is a message, or the stream has ended. */
    override fun hasNext(): Boolean {
        if (waiting == null) {
            val result = blocking { channel.receiveCatching() }
            result.exceptionOrNull()?.let { throw it }
            waiting = result.getOrNull()
        }
        return waiting != null
    }

    override fun next(): T {
        if (!hasNext()) throw NoSuchElementException("the stream has ended")
        return checkNotNull(waiting).also { waiting = null }
    }

    override fun close() {
        scope.cancel()
    }
}
