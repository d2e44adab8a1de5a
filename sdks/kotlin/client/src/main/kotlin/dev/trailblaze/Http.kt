package dev.trailblaze

import java.io.IOException
import java.net.ConnectException
import java.net.ProtocolException
import java.net.URI
import java.net.http.HttpClient
import java.net.http.HttpConnectTimeoutException
import java.net.http.HttpRequest
import java.net.http.HttpResponse
import java.nio.ByteBuffer
import java.time.Duration
import java.util.concurrent.CancellationException
import java.util.concurrent.CompletableFuture
import java.util.concurrent.CompletionException
import java.util.concurrent.CompletionStage
import java.util.concurrent.Flow
import java.util.concurrent.TimeUnit
import java.util.concurrent.TimeoutException
import kotlin.coroutines.resumeWithException
import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.channels.getOrElse
import kotlinx.coroutines.suspendCancellableCoroutine

/** The most bytes that a response, or a message of a stream, may have. */
internal const val MAX_BODY: Int = 64 shl 20

/** Sends requests over HTTP/1.1. Connections are kept alive, and shared by all clients of the process. */
internal object Http {
    private val client: HttpClient by lazy {
        HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .followRedirects(HttpClient.Redirect.NEVER)
            // Also where a proxy is configured for others.
            .proxy(HttpClient.Builder.NO_PROXY)
            .connectTimeout(Duration.ofSeconds(10))
            .build()
    }

    /** Posts a body, and waits for the response. Cancelling the coroutine closes the connection, which cancels the call. */
    suspend fun <B : Any> post(
        address: Address,
        path: String,
        headers: Map<String, String>,
        body: ByteArray,
        timeoutMs: Long,
        handler: HttpResponse.BodyHandler<B>,
    ): HttpResponse<B> {
        var problem: IOException? = null
        for (host in address.hosts) {
            val request = HttpRequest.newBuilder(URI.create(address.url(host) + address.path + path))
                .POST(HttpRequest.BodyPublishers.ofByteArray(body))
            headers.forEach { (name, value) -> request.header(name, value) }
            try {
                return exchange(request.build(), timeoutMs, handler)
            } catch (refused: ConnectException) {
                problem = problem ?: refused
            } catch (late: HttpConnectTimeoutException) {
                problem = problem ?: late
            } catch (unclear: ProtocolException) {
                throw ApiError(Code.INTERNAL, "the response is not HTTP: ${unclear.message}", unclear)
            } catch (broken: IOException) {
                throw ConnectionFailed("$address closed the connection without a complete response: ${broken.message}", broken)
            }
        }
        throw unreachable(address, problem)
    }

    private suspend fun <B : Any> exchange(
        request: HttpRequest,
        timeoutMs: Long,
        handler: HttpResponse.BodyHandler<B>,
    ): HttpResponse<B> = suspendCancellableCoroutine { continuation ->
        val exchange = client.sendAsync(request, handler)
        // Not a delay of coroutines: in tests, that would be over at once.
        val timer = CompletableFuture<Unit>().orTimeout(timeoutMs, TimeUnit.MILLISECONDS)
        timer.whenComplete { _, problem -> if (problem is TimeoutException) exchange.cancel(true) }
        continuation.invokeOnCancellation { exchange.cancel(true) }
        exchange.whenComplete { response, problem ->
            val isLate = timer.isCompletedExceptionally
            timer.complete(Unit)
            if (response != null) {
                continuation.resume(response) { _, late, _ -> (late.body() as? StreamBody)?.cancel() }
            } else {
                val cause = (problem as? CompletionException)?.cause ?: problem
                val isExpired = isLate && cause is CancellationException
                continuation.resumeWithException(if (isExpired) expired() else cause)
            }
        }
    }

    private fun unreachable(address: Address, problem: IOException?): ConnectionFailed {
        val why = if (problem is HttpConnectTimeoutException) "it does not answer" else problem?.message ?: "connection refused"
        val text = "Trailblaze cannot be reached at $address: $why; it runs during `trailblaze run`, `trailblaze shell` and " +
            "`trailblaze serve`"
        return ConnectionFailed(text, problem)
    }

    fun expired(): DeadlineExceeded = DeadlineExceeded("Trailblaze did not answer within the timeout")
}

/** A body that is received completely. */
internal class WholeBody : HttpResponse.BodySubscriber<ByteArray> {
    private val body = CompletableFuture<ByteArray>()
    private val parts = mutableListOf<ByteArray>()
    private var size = 0L
    private var subscription: Flow.Subscription? = null

    override fun getBody(): CompletionStage<ByteArray> = body

    override fun onSubscribe(subscription: Flow.Subscription) {
        this.subscription = subscription
        subscription.request(Long.MAX_VALUE)
    }

    override fun onNext(items: List<ByteBuffer>) {
        for (part in items) {
            size += part.remaining()
            if (size > MAX_BODY) {
                subscription?.cancel()
                body.completeExceptionally(ApiError(Code.RESOURCE_EXHAUSTED, "the response is larger than $MAX_BODY bytes"))
                return
            }
            parts += bytesOf(part)
        }
    }

    override fun onError(problem: Throwable) {
        body.completeExceptionally(problem)
    }

    override fun onComplete() {
        body.complete(joined(parts))
    }
}

/** A body that is read while it is received. At most one part waits for its reader. */
internal class StreamBody : HttpResponse.BodySubscriber<StreamBody> {
    private val parts = Channel<ByteArray>(Channel.UNLIMITED)
    private val subscription = CompletableFuture<Flow.Subscription>()
    private var buffer = ByteArray(0)

    override fun getBody(): CompletionStage<StreamBody> = CompletableFuture.completedFuture(this)

    override fun onSubscribe(subscription: Flow.Subscription) {
        this.subscription.complete(subscription)
        subscription.request(1)
    }

    override fun onNext(items: List<ByteBuffer>) {
        parts.trySend(joined(items.map(::bytesOf)))
    }

    override fun onError(problem: Throwable) {
        parts.close(problem)
    }

    override fun onComplete() {
        parts.close()
    }

    /** The next message, with its flags. Null if the body has ended. */
    suspend fun next(): Pair<Int, ByteArray>? {
        while (true) {
            if (buffer.size >= HEAD) {
                val size = ByteBuffer.wrap(buffer, 1, HEAD - 1).int
                if (size !in 0..MAX_BODY) throw ApiError(Code.RESOURCE_EXHAUSTED, "a message of the stream is larger than $MAX_BODY bytes")
                if (buffer.size - HEAD >= size) {
                    val message = buffer.copyOfRange(HEAD, HEAD + size)
                    val flags = buffer[0].toInt()
                    buffer = buffer.copyOfRange(HEAD + size, buffer.size)
                    return flags to message
                }
            }
            val part = parts.receiveCatching().getOrElse { problem ->
                if (problem == null) return null
                throw ConnectionFailed("Trailblaze closed the connection during its response", problem)
            }
            buffer += part
            subscription.thenAccept { it.request(1) }
        }
    }

    /** Closes the connection, which ends the call. */
    fun cancel() {
        subscription.thenAccept { it.cancel() }
    }

    private companion object {
        /** Flags, and the length of the message. */
        const val HEAD = 5
    }
}

private fun bytesOf(part: ByteBuffer): ByteArray = ByteArray(part.remaining()).also(part::get)

private fun joined(parts: List<ByteArray>): ByteArray {
    val whole = ByteBuffer.allocate(parts.sumOf { it.size })
    parts.forEach(whole::put)
    return whole.array()
}
