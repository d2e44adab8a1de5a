package dev.trailblaze

import java.nio.file.Files
import java.nio.file.Path
import java.nio.file.attribute.PosixFilePermissions
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitAll
import kotlinx.coroutines.runBlocking
import kotlinx.serialization.json.jsonObject
import kotlinx.serialization.json.jsonPrimitive
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows
import org.junit.jupiter.api.io.TempDir
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.ValueSource

/** Clients that find the session of this user's daemon by themselves. */
class DaemonTest {
    @TempDir
    lateinit var runtime: Path
    private var session: String? = null
    private val daemons = mutableListOf<FakeDaemon>()
    private val environment: Environment = { name ->
        when (name) {
            "XDG_RUNTIME_DIR" -> runtime.toString()
            "TRAILBLAZE_SESSION" -> session
            else -> null
        }
    }

    @AfterEach
    fun close() = daemons.forEach { it.server.close() }

    private fun client() = TrailblazeClient(Target(environment = environment))

    private fun refused(client: TrailblazeClient = client()): ApiError = assertThrows { runBlocking { client.tap(1, 2) } }

    private fun daemon(program: String, vararg sessions: String) =
        FakeDaemon(runtime.resolve("trailblaze"), program, sessions.toMutableList()).also(daemons::add)

    @Test
    fun `the only session is used, and looked for once`() = runBlocking {
        val daemon = daemon("trailblaze", "wallet")
        val tb = client()
        assertEquals("TrailblazeClient()", tb.toString())
        assertTrue(daemon.server.requests.isEmpty())
        List(2) { async { tb.tap(1, 2) } }.awaitAll()
        val tap = "/trailblaze.v1.TrailblazeCommands/Tap"
        assertEquals(listOf("/daemon", tap, tap), daemon.server.requests.map { it.path })
        assertEquals("Bearer key-of-trailblaze", daemon.server.requests.first().headers["authorization"])
        assertEquals("Bearer key-of-wallet", daemon.server.last.headers["authorization"])
        assertEquals("TrailblazeClient(${daemon.server.address})", tb.toString())
    }

    @Test
    fun `a tool that another program calls uses it too`() = runBlocking {
        val daemon = daemon("trailblaze", "wallet")
        TrailblazeClient(Target.ofMeta(null, null, environment)).tap(1, 2)
        assertEquals("Bearer key-of-wallet", daemon.server.last.headers["authorization"])
    }

    @Test
    fun `of several sessions, the variable names one`() = runBlocking {
        val daemon = daemon("trailblaze", "wallet", "shop")
        val error = refused()
        assertEquals(Code.FAILED_PRECONDITION, error.code)
        assertEquals("2 sessions are open: `wallet`, `shop`; set TRAILBLAZE_SESSION to the name of one", error.reason)
        session = "shop"
        client().tap(1, 2)
        assertEquals("Bearer key-of-shop", daemon.server.last.headers["authorization"])
        session = "nothing"
        assertEquals("no session is open; `trailblaze device connect` opens one", refused().reason)
    }

    @Test
    fun `the daemons of other programs have sessions too`() = runBlocking {
        daemon("trailblaze", "wallet")
        val other = daemon("acme", "driver")
        assertEquals(
            "session `driver` is open; session `wallet` is open; set TRAILBLAZE_SESSION to the name of one",
            refused().reason,
        )
        session = "driver"
        client().tap(1, 2)
        assertEquals("Bearer key-of-driver", other.server.last.headers["authorization"])
    }

    @Test
    fun `without a daemon, a call says how to open a session`() {
        val text = "no Trailblaze session is open; `trailblaze device connect` opens one"
        assertEquals(Code.FAILED_PRECONDITION to text, refused().let { it.code to it.reason })
        val daemon = daemon("trailblaze", "wallet")
        daemon.server.close()
        assertEquals(text, refused().reason)
    }

    @Test
    fun `what other users could have written is not used`() {
        val daemon = daemon("trailblaze", "wallet")
        fun check(path: Path) {
            val error = refused()
            assertEquals(Code.PERMISSION_DENIED, error.code)
            assertTrue(error.reason.startsWith("`$path` is not used: it belongs to another user, or other users"), error.reason)
        }
        Files.setPosixFilePermissions(daemon.file, PosixFilePermissions.fromString("rw-r--r--"))
        check(daemon.file)
        Files.setPosixFilePermissions(daemon.file, PosixFilePermissions.fromString("rw-------"))
        Files.setPosixFilePermissions(daemon.folder, PosixFilePermissions.fromString("rwxr-xr-x"))
        check(daemon.folder)
        Files.setPosixFilePermissions(daemon.folder, PosixFilePermissions.fromString("rwx------"))
        val link = Files.createSymbolicLink(daemon.folder.resolve("link.daemon.json"), daemon.file)
        check(link)
        assertTrue(daemon.server.requests.isEmpty())
    }

    @Test
    fun `a session that has ended is named`() = runBlocking {
        val daemon = daemon("trailblaze", "wallet")
        val tb = client()
        tb.tap(1, 2)
        daemon.sessions.clear()
        val error = refused(tb)
        assertEquals(Code.UNAUTHENTICATED, error.code)
        assertTrue(error.reason.startsWith("session `wallet` has ended, or its daemon has: unknown session key; "), error.reason)
        daemon.server.close()
        val gone = refused(tb)
        assertTrue(gone is ConnectionFailed && gone.reason.startsWith("session `wallet` has ended"), gone.reason)
    }

    @ParameterizedTest
    @ValueSource(strings = ["", "nonsense", "[]", """{"answer": {"access": {"name": 1}}}""", """{"answer": "stopped"}"""])
    fun `an answer that is not understood is an error`(body: String) {
        daemon("trailblaze", "wallet").server.answer = { _, _ -> respond(body) }
        assertTrue("does not understand" in refused().reason)
    }

    @ParameterizedTest
    @ValueSource(
        strings = ["", "{}", "[1]", """{"address": 5, "key": "x"}""", """{"address": "x y", "key": "k"}""", """{"address": "h:1", "key": "é"}"""],
    )
    fun `a file that is not understood is an error`(text: String) {
        Files.writeString(daemon("trailblaze", "wallet").file, text)
        assertTrue("is not the file of a daemon" in refused().reason)
    }
}

/** A daemon with sessions, and their typed API. */
private class FakeDaemon(val folder: Path, program: String, val sessions: MutableList<String>) {
    val server = FakeServer({ request, _ -> answer(request) })
    val file: Path = folder.resolve("$program.daemon.json")

    init {
        Files.createDirectories(folder, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")))
        Files.writeString(file, """{"version": "1", "address": "${server.address}", "key": "key-of-$program"}""")
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"))
    }

    private fun answer(request: Request): ByteArray {
        if (request.path != "/daemon") {
            val isKnown = request.headers["authorization"].orEmpty().removePrefix("Bearer key-of-") in sessions
            return if (isKnown) respond("""{"success": true}""") else refuse("unauthenticated", "unknown session key", 401)
        }
        val wanted = request.json.getValue("access").jsonObject.getValue("session").jsonObject["name"]?.jsonPrimitive?.content
        val fitting = sessions.filter { wanted == null || it == wanted }
        val line = when (fitting.size) {
            0 -> """{"error": {"message": "no session is open", "hint": "`trailblaze device connect` opens one", "exit": "invalid", "isNoSession": true}}"""
            1 -> """{"answer": {"access": {"name": "${fitting[0]}", "address": "${server.address}", "key": "key-of-${fitting[0]}"}}}"""
            else -> {
                val names = fitting.joinToString { "`$it`" }
                """{"error": {"message": "${fitting.size} sessions are open: $names", "hint": null, "exit": "invalid"}}"""
            }
        }
        return respond("{\"progress\": \"opening\"}\n\"alive\"\n$line\n", type = "application/x-ndjson")
    }
}
