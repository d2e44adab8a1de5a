package dev.trailblaze

import java.util.concurrent.CountDownLatch
import java.util.concurrent.atomic.AtomicInteger
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitAll
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.test.runTest
import kotlinx.coroutines.withContext
import kotlinx.serialization.json.buildJsonObject
import kotlinx.serialization.json.jsonPrimitive
import kotlinx.serialization.json.put
import kotlinx.serialization.json.putJsonObject
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

class ConnectionsTest {
    private val server = FakeServer()

    @AfterEach
    fun close() = server.close()

    @Test
    fun `calls share one connection`() = runBlocking {
        repeat(20) { TrailblazeClient(server.address, key = "k").tap(1, 2) }
        assertEquals(1, server.connections.size)
    }

    @Test
    fun `a request has the path, the key, the ids and the arguments that were given`() = runBlocking {
        val tb = TrailblazeClient(server.address, "c-1", key = " key\n", sessionId = "s", deviceId = "android/sim-1")
        tb.tap(text = "Sign in", longPress = true)
        assertEquals("/trailblaze.v1.TrailblazeCommands/Tap", server.last.path)
        assertEquals("Bearer key", server.last.headers["authorization"])
        assertEquals("application/json", server.last.headers["content-type"])
        assertEquals("1", server.last.headers["connect-protocol-version"])
        val ids = """"deviceId":"android/sim-1","sessionId":"s","invocationId":"c-1""""
        assertEquals("{$ids,\"text\":\"Sign in\",\"longPress\":true}", server.last.json.toString())
        tb.maestro?.pinch(0.1f)
        assertEquals("0.1", server.last.json["scale"].toString())
        tb.maestro?.swipe(SwipeDirection.LEFT, durationMs = 5)
        assertEquals("\"LEFT\"", server.last.json["direction"].toString())
        tb.callTool("acme", mapOf("a" to listOf(1, null, "x"), "b" to mapOf("c" to 1.5)))
        assertEquals("""{"a":[1,null,"x"],"b":{"c":1.5}}""", server.last.json["args"].toString())
    }

    @Test
    fun `cancelling the coroutine of a call closes its connection`() = runBlocking {
        val arrived = CountDownLatch(1)
        server.answer = { _, socket ->
            arrived.countDown()
            // Until the client has closed it.
            socket.getInputStream().read()
            null
        }
        val job = launch(Dispatchers.Default) { TrailblazeClient(server.address, key = "k").tap(1, 2) }
        withContext(Dispatchers.IO) { arrived.await() }
        job.cancelAndJoin()
        assertTrue(server.awaitHangUp())
    }

    @Test
    fun `cancelling during the response closes the connection too`() = runBlocking {
        val arrived = CountDownLatch(1)
        server.answer = { _, socket ->
            socket.getOutputStream().write("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{".toByteArray())
            arrived.countDown()
            socket.getInputStream().read()
            null
        }
        val job = launch(Dispatchers.Default) { TrailblazeClient(server.address, key = "k").tap(1, 2) }
        withContext(Dispatchers.IO) { arrived.await() }
        job.cancelAndJoin()
        assertTrue(server.awaitHangUp())
    }

    @Test
    fun `a cancelled call says so to nobody but its coroutine`() = runBlocking {
        val held = CountDownLatch(1)
        server.answer = { request, _ ->
            if (request.json["text"]?.jsonPrimitive?.content == "held") held.await()
            respond("""{"success": true}""")
        }
        val tb = TrailblazeClient(server.address, key = "k")
        val call = async(Dispatchers.Default) { runCatching { tb.tap(text = "held") } }
        while (server.requests.isEmpty()) Thread.onSpinWait()
        call.cancel()
        assertTrue(tb.tap(text = "other").success)
        held.countDown()
        assertTrue(runCatching { call.await() }.exceptionOrNull() is CancellationException)
    }

    @Test
    fun `an interrupted thread cancels the call of a blocking client`() {
        val arrived = CountDownLatch(1)
        server.answer = { _, socket ->
            arrived.countDown()
            socket.getInputStream().read()
            null
        }
        var thrown: Throwable? = null
        val thread = Thread {
            thrown = runCatching { BlockingTrailblazeClient(server.address, "k").tap(1, 2) }.exceptionOrNull()
        }
        thread.start()
        arrived.await()
        thread.interrupt()
        thread.join(30_000)
        assertEquals(Code.CANCELED, (thrown as? ApiError)?.code)
        assertTrue(server.awaitHangUp())
    }

    @Test
    fun `many devices at once each get their own calls`() = runBlocking {
        // As for tools of one server that are called at the same time: each has its own client, made from its own call.
        server.answer = { request, _ ->
            val ids = listOf("deviceId", "sessionId", "invocationId").map { request.json[it]?.jsonPrimitive?.content }
            respond("""{"success": true, "message": "$ids ${request.json["text"]?.jsonPrimitive?.content}"}""")
        }
        val mistakes = AtomicInteger()
        withContext(Dispatchers.Default) {
            List(50) { number ->
                async {
                    val meta = buildJsonObject {
                        put("trailblazeInvocationId", "c-$number")
                        putJsonObject("trailblaze") {
                            put("baseUrl", server.address)
                            put("sessionId", "s-$number")
                            put("deviceId", "android/sim-$number")
                        }
                    }
                    val tb = TrailblazeClient.fromMeta(meta)
                    repeat(10) { step ->
                        val expected = "[android/sim-$number, s-$number, c-$number] $number.$step"
                        if (tb.tap(text = "$number.$step").message != expected) mistakes.incrementAndGet()
                    }
                }
            }.awaitAll()
        }
        assertEquals(0, mistakes.get())
        assertEquals(500, server.requests.size)
    }

    @Test
    fun `a test with virtual time does not end the calls of a client`() = runTest {
        val tb = TrailblazeClient(server.address, key = "k", timeout = 20.seconds)
        assertTrue(tb.tap(1, 2).success)
    }
}
