package dev.trailblaze

import kotlin.time.Duration.Companion.milliseconds
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitAll
import kotlinx.coroutines.flow.first
import kotlinx.coroutines.flow.take
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withContext
import org.junit.jupiter.api.AfterAll
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertNotNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.BeforeAll
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.TestInstance
import org.junit.jupiter.api.assertThrows

/** Against the real Trailblaze, on a simulated phone. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class RealTest {
    private var served: Served? = null
    private val server: Served get() = checkNotNull(served)
    private val tb: TrailblazeClient by lazy {
        TrailblazeClient(server.address, key = server.key, platform = TrailblazeDevicePlatform.ANDROID)
    }

    @BeforeAll
    fun start() {
        served = Served("android/sim-1", "examples/wallet")
    }

    @AfterAll
    fun stop() {
        served?.close()
    }

    @Test
    fun `a flow of commands`() = runBlocking {
        assertEquals("android/sim-1", tb.getSession().device.id)
        assertTrue(tb.launchApp().success)
        val screen = tb.captureScreen()
        assertEquals(Triple("android", 1080, 2400), Triple(screen.platform, screen.width, screen.height))
        val email = checkNotNull(screen.find(text = "Email"))
        val bounds = checkNotNull(email.bounds)
        assertEquals(email, screen.elementAt(bounds.centerX, bounds.centerY))
        tb.tap(bounds.centerX, bounds.centerY)
        tb.inputText("ada@example.com")
        tb.tap(id = "pin")
        tb.inputText("1234")
        tb.tap(text = "Sign in")
        tb.waitUntilVisible("Activity", timeoutMs = 5000)
        assertTrue(tb.isVisible(text = "Home"))
        assertFalse(tb.isVisible(text = "Nothing like it"))
        assertEquals("PNG", tb.captureScreen(picture = true).picture?.data?.decodeToString(1, 4))
        assertTrue(checkNotNull(tb.maestro).scroll(ScrollDirection.DOWN).success)
    }

    @Test
    fun `memory, tools and devices`() = runBlocking {
        tb.remember("user", "ada")
        assertEquals("ada", tb.dumpMemory()["user"])
        tb.forget("user")
        assertFalse("user" in tb.dumpMemory())
        val tools = tb.listTools().tools
        assertTrue(tools.any { it.name == "wallet_signIn" && it.inputSchema["type"] == "object" })
        assertTrue(tb.callTool("remember", mapOf("variable" to "a", "value" to "b")).success)
        assertTrue(tb.reloadTools().total > 0)
        assertEquals(listOf("android/sim-1"), tb.listDevices().devices.map { it.id })
    }

    @Test
    fun `what does not exist or may not be used is an error with its code`() {
        fun refused(call: suspend () -> Unit): Code = assertThrows<ApiError> { runBlocking { call() } }.code
        val ended = TrailblazeClient(server.address, invocationId = "c-ended", key = server.key)
        val otherSession = TrailblazeClient(server.address, key = server.key, sessionId = "s-nothing")
        val otherDevice = TrailblazeClient(server.address, key = server.key, deviceId = "android/none")
        for (client in listOf(ended, otherSession, otherDevice)) {
            assertTrue(refused { client.tap(1, 2) } in setOf(Code.NOT_FOUND, Code.PERMISSION_DENIED))
        }
        assertEquals(Code.UNAUTHENTICATED, refused { TrailblazeClient(server.address, key = "wrong").tap(1, 2) })
        assertEquals(Code.FAILED_PRECONDITION, refused { tb.askModel("Is it green?") })
        assertEquals(Code.UNIMPLEMENTED, refused { tb.callTool("nothing_likeIt") })
        val impatient = TrailblazeClient(server.address, key = server.key, timeout = 100.milliseconds)
        assertEquals(Code.DEADLINE_EXCEEDED, refused { impatient.waitUntilVisible("Nothing like it", 5000) })
    }

    @Test
    fun `events and devices are followed`() = runBlocking {
        tb.isVisible("Pay")
        val events = tb.watchEvents().take(2).toList()
        assertEquals(listOf(1, 2), events.map { it.number })
        assertEquals(events[1], tb.watchEvents(after = 1).first())
        assertEquals("android/sim-1", tb.watchDevices().first().devices.single().id)
        BlockingTrailblazeClient(tb).watchEvents().use { stream -> assertNotNull(stream.next().type) }
    }

    @Test
    fun `many coroutines call at the same time`() = runBlocking {
        val found = withContext(Dispatchers.Default) { List(40) { async { tb.isVisible("Nothing like it") } }.awaitAll() }
        assertEquals(List(40) { false }, found)
    }
}
