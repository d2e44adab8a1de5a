package dev.trailblaze

import java.net.ServerSocket
import java.util.concurrent.CountDownLatch
import kotlin.time.Duration.Companion.milliseconds
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withContext
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.CsvSource
import org.junit.jupiter.params.provider.EnumSource
import org.junit.jupiter.params.provider.ValueSource

class ErrorsTest {
    private val server = FakeServer()
    private val tb = TrailblazeClient(server.address, key = "k")

    @AfterEach
    fun close() = server.close()

    private inline fun <reified T : Throwable> thrown(noinline call: suspend CoroutineScope.() -> Unit): T =
        assertThrows<T> { runBlocking(block = call) }

    private fun answer(body: String) {
        server.answer = { _, _ -> respond(body) }
    }

    @Test
    fun `an action that failed throws its message and variant`() {
        answer("""{"success": false, "message": "no element `Pay`", "variant": "ExceptionThrown"}""")
        val error = thrown<ActionFailed> { tb.tap(text = "Pay") }
        assertEquals("no element `Pay`" to "ExceptionThrown", error.message to error.variant)
    }

    @Test
    fun `an assertion that failed is an AssertionError`() {
        answer("""{"success": false, "message": "`Pay` is not visible", "variant": "AssertionFailed"}""")
        val error = thrown<AssertionError> { tb.assertVisible("Pay") }
        assertTrue(error is AssertionFailed)
        assertEquals("`Pay` is not visible", error.message)
        thrown<AssertionFailed> { tb.waitUntilVisible("Pay", timeoutMs = 1) }
        thrown<AssertionFailed> { tb.callTool("acme_checkTotal") }
        val interfaceOfAll: TrailblazeError = thrown<AssertionFailed> { tb.assertVisible("Pay") }
        assertEquals("`Pay` is not visible", interfaceOfAll.message)
    }

    @ParameterizedTest
    @EnumSource(Code::class)
    fun `every code arrives with its message`(code: Code) {
        server.answer = { _, _ -> refuse(code.word, "the field `text` is missing", 418) }
        for (call in listOf<suspend () -> Any>({ tb.tap(1, 2) }, { tb.isVisible("x") }, { tb.captureScreen() })) {
            val error = thrown<ApiError> { call() }
            assertEquals(code, error.code)
            assertEquals("the field `text` is missing", error.reason)
            assertEquals("the field `text` is missing (${code.word})", error.message)
            assertEquals(code == Code.DEADLINE_EXCEEDED, error is DeadlineExceeded)
        }
    }

    @Test
    fun `the connection stays open after an error`() {
        server.answer = { _, _ -> refuse("not_found", "the invocation `c-1` has ended", 404) }
        repeat(3) { assertEquals(Code.NOT_FOUND, thrown<ApiError> { tb.tap(1, 2) }.code) }
        assertEquals(1, server.connections.size)
    }

    @ParameterizedTest
    @CsvSource(
        "404, <html>nothing here</html>, UNIMPLEMENTED, HTTP status 404: `<html>nothing here</html>`",
        "403, '', PERMISSION_DENIED, HTTP status 403: nothing",
        "502, x, UNAVAILABLE, HTTP status 502",
        "500, '{\"message\": \"no code\"}', UNKNOWN, HTTP status 500",
        "500, '{\"code\": \"odd\", \"message\": \"said\"}', UNKNOWN, said",
        "500, '{\"code\": [\"odd\"]}', UNKNOWN, odd",
        "400, [1], INTERNAL, HTTP status 400",
        "301, '', UNKNOWN, HTTP status 301",
        "401, '', UNAUTHENTICATED, HTTP status 401",
    )
    fun `a status without an error of ours is explained`(status: Int, body: String, code: Code, words: String) {
        server.answer = { _, _ -> respond(body, status, "text/html") }
        val error = thrown<ApiError> { tb.tap(1, 2) }
        assertEquals(code, error.code)
        assertTrue(words in error.reason, error.reason)
    }

    @ParameterizedTest
    @ValueSource(strings = ["", "ok", "<html>", "[1]", "{\"success\":", "1", "null"])
    fun `a success that is not a JSON object is an error`(body: String) {
        answer(body)
        val error = thrown<ApiError> { tb.tap(1, 2) }
        assertEquals(Code.INTERNAL, error.code)
        assertTrue("not JSON" in error.reason || "not a JSON object" in error.reason, error.reason)
    }

    @Test
    fun `a response that is nested too deeply is an error`() {
        for (body in listOf("[".repeat(200_000), """{"root":{"children":[""".repeat(50_000))) {
            answer(body)
            thrown<ApiError> { tb.captureScreen() }
        }
        answer("""{"root":""" + """{"children":[""".repeat(50_000) + "]}".repeat(50_000) + "}")
        thrown<ApiError> { tb.captureScreen() }
    }

    @ParameterizedTest
    @CsvSource(
        "'{\"root\": 5}', '`root` must be an object, got `5`'",
        "'{\"root\": {\"children\": 7}}', '`children` must be a list, got `7`'",
        "'{\"root\": {\"children\": [7]}}', '`children[0]` must be an object, got `7`'",
        "'{\"picture\": {\"data\": \"%\"}}', '`data` is not base64'",
        "'{\"width\": 1.5}', '`width` must be a whole number, got `1.5`'",
        "'{\"width\": \"wide\"}', '`width` must be a whole number, got `\"wide\"`'",
        "'{\"root\": {\"enabled\": \"yes\"}}', '`enabled` must be a boolean, got `\"yes\"`'",
    )
    fun `a message of the wrong shape is an error`(body: String, words: String) {
        answer(body)
        val error = thrown<ApiError> { tb.captureScreen() }
        assertEquals(Code.INTERNAL to "the response is not as in the contract: $words", error.code to error.reason)
    }

    @Test
    fun `an action without success has failed`() {
        answer("{}")
        assertEquals("it failed", thrown<ActionFailed> { tb.tap(1, 2) }.message)
    }

    @Test
    fun `what a newer version says beyond the contract is ignored`() = runBlocking {
        answer("""{"success": true, "message": "done", "since": 2027, "more": {"a": [1]}}""")
        assertEquals("done", tb.tap(1, 2).message)
        answer("""{"sessionId": "s", "device": {"id": "tv/1", "platform": "tv", "colors": 5}}""")
        assertEquals("tv", tb.getSession().device.platform)
        assertEquals(TrailblazeDevicePlatform.UNKNOWN, TrailblazeDevicePlatform.of("tv"))
    }

    @Test
    fun `an address where nothing listens is an error that names it`() {
        val port = ServerSocket(0).use { it.localPort }
        val error = thrown<ConnectionFailed> { TrailblazeClient("localhost:$port").tap(1, 2) }
        assertEquals(Code.UNAVAILABLE, error.code)
        assertTrue(error.reason.startsWith("Trailblaze cannot be reached at http://127.0.0.1:$port: "), error.reason)
        assertTrue("`trailblaze serve`" in error.reason, error.reason)
    }

    @Test
    fun `a peer that does not speak HTTP is an error`() {
        server.answer = { _, _ -> "SSH-2.0-OpenSSH_9.6\r\n\r\n".toByteArray() }
        assertTrue("the response is not HTTP" in thrown<ApiError> { tb.tap(1, 2) }.reason)
    }

    @Test
    fun `a connection that ends early is an error, and the call is not repeated`() {
        server.answer = { _, _ -> null }
        assertTrue("without a complete response" in thrown<ConnectionFailed> { tb.tap(1, 2) }.reason)
        assertEquals(1, server.requests.size)
        server.answer = { _, socket ->
            socket.getOutputStream().write("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{".toByteArray())
            null
        }
        thrown<ConnectionFailed> { tb.tap(1, 2) }
        assertEquals(2, server.requests.size)
    }

    @Test
    fun `a call that takes too long is given up, and its connection closed`() {
        val end = CountDownLatch(1)
        server.answer = { _, _ -> null.also { end.await() } }
        val impatient = TrailblazeClient(server.address, key = "k", timeout = 50.milliseconds)
        assertEquals("Trailblaze did not answer within the timeout", thrown<DeadlineExceeded> { impatient.tap(1, 2) }.reason)
        assertEquals("50", server.last.headers["connect-timeout-ms"])
        end.countDown()
    }

    @Test
    fun `a response that is too large is an error`() {
        server.answer = { _, socket ->
            val out = socket.getOutputStream()
            out.write("HTTP/1.1 200 OK\r\ncontent-length: ${MAX_BODY + 2}\r\n\r\n".toByteArray())
            repeat(MAX_BODY / 65536 + 1) { out.write(ByteArray(65536)) }
            null
        }
        assertEquals(Code.RESOURCE_EXHAUSTED, thrown<ApiError> { tb.tap(1, 2) }.code)
    }

    @Test
    fun `an argument that is not JSON is refused, and nothing is sent`() {
        for (value in listOf(Double.NaN, Float.POSITIVE_INFINITY, Any(), listOf(Any()))) {
            val error = thrown<ApiError> { tb.callTool("acme", mapOf("value" to value)) }
            assertEquals(Code.INVALID_ARGUMENT, error.code)
            assertTrue(error.reason.startsWith("the arguments are not JSON"), error.reason)
        }
        assertTrue(server.requests.isEmpty())
    }

    @Test
    fun `an error names the line that made the call, also after waiting`() {
        server.answer = { _, _ -> refuse("not_found", "gone", 404) }
        val error = thrown<ApiError> { withContext(Dispatchers.Default) { author() } }
        assertTrue(error.stackTrace.any { it.fileName == "ErrorsTest.kt" && it.methodName == "author" }, error.stackTraceToString())
    }

    private suspend fun author() {
        tb.tap(text = "Sign in")
        println("not reached")
    }
}
