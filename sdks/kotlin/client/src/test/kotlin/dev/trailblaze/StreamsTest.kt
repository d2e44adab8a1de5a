package dev.trailblaze

import java.util.concurrent.CountDownLatch
import java.util.concurrent.atomic.AtomicInteger
import kotlinx.coroutines.flow.first
import kotlinx.coroutines.flow.onEach
import kotlinx.coroutines.flow.take
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.runBlocking
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

class StreamsTest {
    private val server = FakeServer()
    private val tb = TrailblazeClient(server.address, key = "k")

    @AfterEach
    fun close() = server.close()

    private fun event(number: Int) = enveloped("""{"number": $number, "type": "called", "json": "{}"}""")

    private fun stream(vararg parts: ByteArray) = STREAM_HEAD + parts.map(::chunk).reduce(ByteArray::plus) + LAST_CHUNK

    private val end = enveloped("{}", flags = 2)

    @Test
    fun `messages arrive one by one, until the last`() = runBlocking {
        val mayGoOn = CountDownLatch(1)
        server.answer = { _, socket ->
            socket.getOutputStream().write(STREAM_HEAD + chunk(event(1)))
            mayGoOn.await()
            chunk(event(2)) + chunk(end) + LAST_CHUNK
        }
        val numbers = tb.watchEvents(after = 7).onEach { mayGoOn.countDown() }.toList().map { it.number }
        assertEquals(listOf(1, 2), numbers)
        assertEquals("/trailblaze.v1.TrailblazeSession/WatchEvents", server.last.path)
        assertEquals("""{"after":7}""", server.last.json.toString())
    }

    @Test
    fun `messages may be split and joined in any way`() = runBlocking {
        val bytes = event(1) + event(2) + event(3) + end
        server.answer = { _, _ -> stream(*bytes.toList().chunked(7).map { it.toByteArray() }.toTypedArray()) }
        assertEquals(listOf(1, 2, 3), tb.watchEvents().toList().map { it.number })
        server.answer = { _, _ -> stream(bytes) }
        assertEquals(listOf(1, 2, 3), tb.watchEvents().toList().map { it.number })
    }

    @Test
    fun `an error at the end is thrown after the messages`() {
        val problem = enveloped("""{"error": {"code": "unavailable", "message": "the session has ended"}}""", flags = 2)
        server.answer = { _, _ -> stream(event(1), problem) }
        val seen = AtomicInteger()
        val error = assertThrows<ApiError> { runBlocking { tb.watchEvents().onEach { seen.incrementAndGet() }.toList() } }
        assertEquals(Code.UNAVAILABLE to "the session has ended", error.code to error.reason)
        assertEquals(1, seen.get())
    }

    @Test
    fun `a stream that breaks, or never was one, is an error`() {
        server.answer = { _, _ -> stream(event(1)) }
        assertTrue("without its last message" in failure().reason)
        server.answer = { _, socket -> null.also { socket.getOutputStream().write(STREAM_HEAD + chunk(event(1))) } }
        assertTrue(failure() is ConnectionFailed)
        server.answer = { _, _ -> refuse("unauthenticated", "unknown session key", 401) }
        assertEquals(Code.UNAUTHENTICATED, failure().code)
        server.answer = { _, _ -> respond("{}") }
        assertTrue("HTTP status 200" in failure().reason)
        server.answer = { _, _ -> stream(enveloped("[1]")) }
        assertTrue("a message of the stream is not a JSON object" in failure().reason)
        server.answer = { _, _ -> stream(byteArrayOf(0, 127, 0, 0, 0)) }
        assertEquals(Code.RESOURCE_EXHAUSTED, failure().code)
    }

    private fun failure(): ApiError = assertThrows { runBlocking { tb.watchEvents().toList() } }

    @Test
    fun `a reader that has enough closes the connection`() = runBlocking {
        server.answer = { _, socket ->
            socket.getOutputStream().write(STREAM_HEAD + chunk(event(1)) + chunk(event(2)))
            socket.getInputStream().read()
            null
        }
        assertEquals(1, tb.watchEvents().first().number)
        assertTrue(server.awaitHangUp())
        assertEquals(2, tb.watchEvents().take(2).toList().size)
    }

    @Test
    fun `a reader that is slow does not make the client keep everything`() = runBlocking {
        val sent = AtomicInteger()
        val filler = "x".repeat(1 shl 20)
        server.answer = { _, socket ->
            val out = socket.getOutputStream()
            out.write(STREAM_HEAD)
            while (sent.incrementAndGet() < 500) out.write(chunk(enveloped("""{"number": ${sent.get()}, "json": "$filler"}""")))
            chunk(end) + LAST_CHUNK
        }
        tb.watchEvents().take(20).toList()
        // What the kernel and the client buffer, not all of it.
        assertTrue(sent.get() < 100, "$sent")
    }

    @Test
    fun `blocking callers get an iterator`() {
        server.answer = { _, _ -> stream(event(1), event(2), end) }
        BlockingTrailblazeClient(server.address, "k").watchEvents().use { events ->
            assertEquals(1, events.next().number)
            assertTrue(events.hasNext())
            assertEquals(2, events.next().number)
            assertFalse(events.hasNext())
            assertThrows<NoSuchElementException> { events.next() }
        }
        server.answer = { _, _ -> refuse("not_found", "gone") }
        BlockingTrailblazeClient(server.address, "k").watchDevices().use { lists ->
            assertEquals(Code.NOT_FOUND, assertThrows<ApiError> { lists.next() }.code)
        }
    }
}
