package dev.trailblaze

import dev.trailblaze.messages.Device
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.runBlocking
import kotlinx.serialization.json.Json
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonPrimitive
import kotlinx.serialization.json.jsonObject
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNotNull
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.CsvSource
import org.junit.jupiter.params.provider.ValueSource

class TargetTest {
    private val server = FakeServer()
    private val outside: Environment = { null }

    @AfterEach
    fun close() = server.close()

    private fun inside(address: String): Environment = { name -> address.takeIf { name == BASE_URL } }

    private fun json(text: String): JsonObject = Json.parseToJsonElement(text).jsonObject

    @ParameterizedTest
    @CsvSource(
        "localhost:52525, 127.0.0.1|::1, 52525, ''",
        "http://LOCALHOST:1/, 127.0.0.1|::1, 1, ''",
        "127.0.0.1:8080, 127.0.0.1, 8080, ''",
        "http://127.0.0.1:8080/tb/, 127.0.0.1, 8080, /tb",
        "localhost, 127.0.0.1|::1, 52525, ''",
        "http://box, box, 80, ''",
        "[::1]:9, ::1, 9, ''",
        "http://[::1], ::1, 80, ''",
    )
    fun `addresses are understood`(address: String, hosts: String, port: Int, path: String) {
        assertEquals(Address(hosts.split('|'), port, path), Address.parse(address))
    }

    @ParameterizedTest
    @ValueSource(
        strings = ["https://localhost:1", "localhost:0", "localhost:x", "localhost:99999", "", "http://", "a b:1", "a\r\nb:1", "u@h:1", "h:1?x", "my_box:1", "a<b:1"],
    )
    fun `other addresses are refused`(address: String) {
        val error = assertThrows<IllegalArgumentException> { Address.parse(address) }
        assertTrue("is not an address such as" in error.message.orEmpty())
    }

    @ParameterizedTest
    @ValueSource(strings = ["", " ", "a\r\nb", "ä"])
    fun `a key that could not be sent is refused`(key: String) {
        assertThrows<IllegalArgumentException> { TrailblazeClient("localhost:1", key = key) }
    }

    @Test
    fun `a timeout must be positive`() {
        assertThrows<IllegalArgumentException> { TrailblazeClient("localhost:1", timeout = 0.seconds) }
    }

    @Test
    fun `the argument of older tools says everything`() = runBlocking {
        val context =
            """{"deviceId": "emulator-5554", "sessionId": "abc", "platform": "ANDROID", "invocationId": "c-1", "baseUrl": "${server.address}"}"""
        val tb = TrailblazeClient.fromContext(json(context))
        assertEquals(listOf("emulator-5554", "abc", "c-1"), listOf(tb.deviceId, tb.sessionId, tb.invocationId))
        assertEquals(TrailblazeDevicePlatform.ANDROID, tb.platform)
        assertNotNull(tb.maestro)
        assertNull(tb.playwright)
        assertNull(tb.device)
        tb.tap(text = "Sign in")
        assertEquals("c-1", (server.last.json["invocationId"] as JsonPrimitive).content)
    }

    @Test
    fun `the meta of a request is a context too`() = runBlocking {
        val device = """{"id": "ios/sim-1", "platform": "ios", "widthPixels": 1, "heightPixels": 2, "driverType": "ios-host"}"""
        val about = """{"baseUrl": "${server.address}", "sessionId": "s", "device": $device, "memory": {"user": "ada", "n": 5}}"""
        val tb = TrailblazeClient.fromMeta(json("""{"trailblaze": $about, "trailblazeInvocationId": "c-9"}"""), 5.seconds)
        assertEquals(Device("ios/sim-1", "ios", "ios-host", 1, 2), tb.device)
        assertEquals(mapOf("user" to "ada", "n" to 5), tb.memory)
        tb.tap(1, 2)
        assertEquals("c-9", (server.last.json["invocationId"] as JsonPrimitive).content)
        assertEquals("5000", server.last.headers["connect-timeout-ms"])
    }

    @Test
    fun `a context of another shape is refused`() {
        val error = assertThrows<IllegalArgumentException> { TrailblazeClient.fromContext(json("""{"sessionId": 5}""")) }
        assertEquals("`sessionId` of the context must be a text, got `5`", error.message)
    }

    @Test
    fun `inside a tool server, a request that Trailblaze did not make is refused`() {
        val error = assertThrows<ContextError> { Target.ofMeta(json("{}"), null, inside("http://127.0.0.1:9")) }
        assertTrue("was not made by Trailblaze" in error.message)
        assertNull(Target.ofMeta(null, null, outside).endpoint)
    }

    @Test
    fun `inside a tool server, a client without an id reaches its own Trailblaze`() {
        for (target in listOf(
            Target("localhost:9", environment = inside(server.address)),
            Target("localhost:9", sessionId = "s", environment = inside(server.address)),
            Target(environment = inside(server.address)),
            Target(server.address, environment = inside(server.address)),
        )) {
            assertEquals(server.address, target.endpoint?.address.toString())
        }
    }

    @Test
    fun `inside a tool server, a client with an id or a key uses its address`() {
        for (target in listOf(
            Target(server.address, invocationId = "c-1", environment = inside("http://127.0.0.1:9")),
            Target(server.address, key = "k", environment = inside("http://127.0.0.1:9")),
        )) {
            assertEquals(server.address, target.endpoint?.address.toString())
        }
    }

    @Test
    fun `without an address, a client with an id uses the usual one`() {
        val target = Target(invocationId = "c-1", environment = outside)
        assertEquals("http://127.0.0.1:52525", target.endpoint?.address.toString())
    }

    @Test
    fun `a client says where it is`() {
        assertEquals("TrailblazeClient(http://127.0.0.1:9)", TrailblazeClient("localhost:9", key = "k").toString())
    }
}
