package dev.trailblaze.tools

import kotlinx.serialization.json.Json
import kotlinx.serialization.json.JsonArray
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonPrimitive
import kotlinx.serialization.json.jsonArray
import kotlinx.serialization.json.jsonObject
import kotlinx.serialization.json.jsonPrimitive
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import java.net.URI
import java.net.http.HttpClient
import java.net.http.HttpRequest
import java.net.http.HttpResponse.BodyHandlers
import java.nio.file.Files
import java.util.concurrent.TimeUnit

/** The server as any MCP client sees it. */
class ServerTest {
    private val phone = """{"trailblaze":{"device":{"id":"android/sim-7","platform":"android"}},"progressToken":"p"}"""

    private fun <T> kitchen(test: McpProcess.() -> T): T = McpProcess(java("com.example.KitchenKt")).use {
        it.initialize()
        it.test()
    }

    private fun textOf(result: JsonObject) = result["content"]!!.jsonArray.joinToString { it.jsonObject["text"]!!.jsonPrimitive.content }

    @Test
    fun `tools are listed with their metadata and the registry can be read`() {
        val start = McpProcess(java("com.example.KitchenKt")).use { server ->
            val start = server.initialize()["result"]!!.jsonObject
            assertEquals(0, server.end())
            assertEquals(emptyList<String>(), server.stray)
            start
        }
        assertEquals("""{"name":"kitchen","version":"1.2.0"}""", start["serverInfo"].toString())
        assertEquals("Cook something.", start["instructions"]!!.jsonPrimitive.content)
        McpProcess(java("com.example.ListingServerKt")).use { server ->
            server.initialize()
            val tools = server.request("tools/list", "{}").result()["tools"]!!.jsonArray.map { it.jsonObject }.associateBy { it["name"]!!.jsonPrimitive.content }
            assertEquals(
                """{"trailblaze/isForLlm":false,"trailblaze/isRecordable":false,"trailblaze/supportedPlatforms":["android","ios"],"trailblaze/groups":["setup"]}""",
                tools.getValue("myapp_setup")["_meta"].toString(),
            )
            assertEquals(JsonPrimitive("Log in to Acme Driver app"), tools.getValue("login")["description"])
            assertFalse("_meta" in tools.getValue("login"))
            assertEquals(
                """{"properties":{"email":{"type":"string"},"password":{"type":"string"}},"required":["email","password"],"type":"object","additionalProperties":false}""",
                tools.getValue("login")["inputSchema"].toString(),
            )
            val resource = server.request("resources/read", """{"uri":"trailblaze://registry"}""").result()["contents"]!!.jsonArray.single().jsonObject
            val registry = Json.parseToJsonElement(resource["text"]!!.jsonPrimitive.content).jsonObject
            assertEquals(tools.keys, registry["tools"]!!.jsonObject.keys)
        }
    }

    @Test
    fun `stdout belongs to the protocol`() = kitchen {
        assertEquals("quiet", textOf(call("kitchen_print", meta = phone).result()))
        assertEquals(emptyList<String>(), stray)
        waitForStderr("printed to stdout")
        assertEquals(
            listOf(
                """"notifications/message" {"level":"warning","data":"a warning","logger":"kitchen_print","_meta":{"progressToken":"p"}}""",
                """"notifications/progress" {"progressToken":"p","progress":1.0,"message":"half"}""",
                """"notifications/progress" {"progressToken":"p","progress":2.0,"message":"done"}""",
            ),
            notifications,
        )
    }

    @Test
    fun `people are told what a tool does after it has ended, and where`() = kitchen {
        call("kitchen_keep", meta = phone).result()
        assertTrue(textOf(call("kitchen_lateLog", meta = phone).result()).startsWith("`kitchen_keep` called `log` after it had ended"))
        val told = Regex("`kitchen_keep` called `log` after it had ended, so nothing was done; .* \\(Kitchen\\.kt:\\d+\\)")
        waitForStderr("`kitchen_keep` called `log` after it had ended")
        while (notifications.none { told.containsMatchIn(it) }) Thread.sleep(10)

        val line = source("com/example/Kitchen.kt").lines().indexOfFirst { "kept!!.client.isVisible" in it } + 1
        val words = "`kitchen_keep` called `isVisible` after it had ended, so nothing was done; " +
            "wait for everything that the tool starts before it returns"
        assertEquals("$words (not_found) (Kitchen.kt:$line)", textOf(call("kitchen_late", meta = phone).result()))
        while (notifications.none { "$words (Kitchen.kt:$line)" in it }) Thread.sleep(10)
    }

    @Test
    fun `a call gets the context of its own request`() = kitchen {
        val calls = (1..50).map { call("kitchen_device", meta = """{"trailblaze":{"device":{"id":"android/sim-$it"}}}""") }
        assertEquals((1..50).map { "android/sim-$it, android/sim-$it" }, calls.map { textOf(it.result()) })
    }

    @Test
    fun `tools that block their threads do not block other calls`() = kitchen {
        // More than a machine has processors.
        val blocked = (1..40).map { call("kitchen_block", """{"name":"oven"}""") }
        assertEquals("cake SMALL  20 false null {}", textOf(call("kitchen_bake", """{"dish":"cake","size":"SMALL"}""").result()))
        assertTrue(blocked.none { it.isDone })
        call("kitchen_release", """{"name":"oven"}""").result()
        assertEquals(List(40) { "released" }, blocked.map { textOf(it.result()) })
    }

    @Test
    fun `a call is refused at once when as many as possible are stuck`() = kitchen {
        val stuck = (1..60).map { call("kitchen_block", """{"name":"oven"}""") }
        val refusal = Regex("60 calls are still running, the oldest is `kitchen_block`, for \\d+ s")
        repeat(3) {
            val refused = call("kitchen_bake", """{"dish":"cake","size":"SMALL"}""").result()
            assertTrue(refusal.matches(textOf(refused)), textOf(refused))
        }
        request("ping", "{}").result()
        waitForStderr("further calls are refused until one ends")
        assertEquals(1, stderr.count { refusal.containsMatchIn(it) })
        assertTrue(stuck.none { it.isDone })
    }

    @Test
    fun `a cancelled call is cancelled in the tool`() = kitchen {
        val waiting = call("kitchen_wait", meta = phone, id = 4711)
        // The tool has begun when it reports progress.
        while (notifications.isEmpty()) Thread.sleep(10)
        notify("notifications/cancelled", """{"requestId":4711,"reason":"test"}""")
        assertEquals("it was cancelled", textOf(call("kitchen_cancelled").result()))
        request("ping", "{}").result()
        assertFalse(waiting.isDone)
    }

    @Test
    fun `what fails after its call is an error that names the call`() = kitchen {
        val file = Files.createTempDirectory("late").resolve("go")
        val about = """{"trailblaze":{"invocationId":"c-7","device":{"id":"android/sim-7","platform":"android"}},"progressToken":"p"}"""
        call("kitchen_leaveUntil", """{"file":"$file"}""", meta = about).result()
        Files.createFile(file)
        val line = source("com/example/Kitchen.kt").lines().indexOfFirst { "the oven burns late" in it } + 1
        val text = "something failed after `kitchen_leaveUntil` had ended, which had started it: the oven burns late (Kitchen.kt:$line)"
        while (notifications.none { text in it }) Thread.sleep(10)
        val told = notifications.single { text in it }
        assertTrue("\"level\":\"error\"" in told && "\"_meta\":{\"trailblazeFailedCall\":\"c-7\"}" in told, told)
    }

    @Test
    fun `a cancelled call that goes on prints where it is`() = kitchen {
        call("kitchen_loop", meta = phone, id = 4712)
        while (notifications.isEmpty()) Thread.sleep(10)
        notify("notifications/cancelled", """{"requestId":4712,"reason":"test"}""")
        val line = source("com/example/Kitchen.kt").lines().indexOfFirst { "Thread.onSpinWait()" in it } + 1
        assertTrue("Kitchen.kt:$line" in waitForStderr("stopped while it was at "))
    }

    @Test
    fun `what Trailblaze would refuse fails with its line`() = kitchen {
        val line = source("com/example/Kitchen.kt").lines().indexOfFirst { "\"target.appId\"" in it } + 1
        assertEquals(
            "`target.appId` cannot be changed in memory: names that begin with `target.` are set by Trailblaze (Kitchen.kt:$line)",
            textOf(call("kitchen_reserved", meta = phone).result()),
        )
        val lineOf = { code: String -> source("com/example/Kitchen.kt").lines().indexOfFirst { code in it } + 1 }
        for ((tool, said, at) in listOf(
            Triple("kitchen_weigh", "the result cannot be passed on: it has NaN at `grams`, which JSON does not have", "fun weigh()"),
            Triple("kitchen_weighAll", "the result cannot be passed on: it has NaN at `grams.0`, which JSON does not have", "fun weighAll()"),
            Triple("kitchen_rememberWeight", "`grams` cannot be remembered: it has NaN, which JSON does not have", "ctx.memory[\"grams\"]"),
        )) {
            val refused = call(tool, meta = phone).result()
            assertEquals("true", refused["isError"].toString())
            assertEquals("$said (Kitchen.kt:${lineOf(at)})", textOf(refused))
        }
    }

    @Test
    fun `what an inline function throws names the line that calls it`() = kitchen {
        val line = source("com/example/Kitchen.kt").lines().indexOfFirst { "it == \"fridge\"" in it } + 1
        val said = textOf(call("kitchen_fail", """{"kind":"inline"}""", meta = phone).result())
        assertEquals("NoSuchElementException: Collection contains no element matching the predicate. (Kitchen.kt:$line)", said)
    }

    @Test
    fun `a command that fails in a coroutine of its own is a doubt about the tool`() = kitchen {
        assertEquals("baked", textOf(call("kitchen_async", meta = phone).result()))
        val line = source("com/example/Kitchen.kt").lines().indexOfFirst { "GlobalScope.async" in it } + 1
        val told = notifications.single { "in a coroutine or thread that `kitchen_async` had started, `tap` failed: " in it }
        assertTrue("(Kitchen.kt:$line); wait for it, and throw what it throws" in told, told)
        assertTrue("\"level\":\"warning\"" in told && "\"trailblazeDoubt\":true" in told, told)
    }

    @Test
    fun `what a tool starts and does not wait for fails its call`() = kitchen {
        for (isThread in listOf(true, false)) {
            val text = textOf(call("kitchen_launch", """{"isThread":$isThread}""").result())
            val expected = Regex("something that the tool did not wait for failed: the oven burns \\(Kitchen\\.kt:\\d+\\)\nhint: .*")
            assertTrue(expected.matches(text), text)
        }
        assertEquals("cake SMALL  20 false null {}", textOf(call("kitchen_bake", """{"dish":"cake","size":"SMALL"}""").result()))
    }

    @Test
    fun `failures are results and the server goes on`() = kitchen {
        val failed = call("kitchen_fail", """{"kind":"fatal"}""", phone).result()
        assertEquals(JsonPrimitive(true), failed["isError"])
        assertEquals("""{"trailblaze":{"variant":"FatalError"}}""", failed["_meta"].toString())
        assertTrue(Regex("the account is locked \\(Kitchen.kt:\\d+\\)").matches(textOf(failed)), textOf(failed))
        val missing = call("kitchen_bake", """{"dish":null}""").result()
        assertEquals("""{"trailblaze":{"variant":"MissingRequiredArgs","missing":["size"]}}""", missing["_meta"].toString())
        val picture = call("kitchen_picture").result()["content"]!!.jsonArray.last().toString()
        assertTrue(picture.contains("\"mimeType\":\"image/png\"") && picture.contains("\"type\":\"image\""), picture)
        assertEquals("[]", call("kitchen_nothing").result()["content"].toString())
    }

    @Test
    fun `a misspelled argument is refused and the hidden ones are not`() = kitchen {
        val refused = call("kitchen_bake", """{"dish":"pie","size":"SMALL","minuts":5}""").result()
        assertTrue(textOf(refused).contains("unknown argument `minuts`; did you mean `minutes`?"), textOf(refused))
        assertEquals("pie SMALL  20 false null {}", textOf(call("kitchen_bake", """{"dish":"pie","size":"SMALL","_trailblazeContext":{}}""").result()))
    }

    @Test
    fun `a server ends with its client even if a tool blocks`() = kitchen {
        call("kitchen_block", """{"name":"oven"}""")
        call("kitchen_wait", meta = phone)
        while (notifications.isEmpty()) Thread.sleep(10)
        assertEquals(0, end())
    }

    @Test
    fun `a port serves several clients of this machine and no others`() {
        val environment = mapOf("TRAILBLAZE_BASE_URL" to "http://127.0.0.1:1")
        McpProcess(java("com.example.KitchenKt") + listOf("--transport", "http", "--port", "0"), environment).use { server ->
            val address = URI(server.waitForStderr("listening on").substringAfter("listening on "))
            val answers = (1..3).map { HttpSession(address) }.map { it.call("kitchen_device", """{"trailblaze":{"device":{"id":"d"}}}""") }
            assertEquals(List(3) { "d, d" }, answers.map { textOf(it) })
            val refused = HttpClient.newHttpClient().send(
                HttpRequest.newBuilder(address).header("Origin", "https://example.com").header("Content-Type", "application/json")
                    .header("Accept", "application/json, text/event-stream").POST(HttpRequest.BodyPublishers.ofString(HttpSession.INITIALIZE)).build(),
                BodyHandlers.ofString(),
            )
            assertEquals(403, refused.statusCode())
            assertEquals(0, server.end())
        }
    }

    @Test
    fun `wrong arguments of the program end it`() {
        val process = ProcessBuilder(java("com.example.KitchenKt") + listOf("--transport", "tcp")).start()
        assertTrue(process.waitFor(McpProcess.LIMIT, TimeUnit.SECONDS))
        assertEquals("error: `--transport` must be stdio or http, got `tcp`\n", process.errorStream.bufferedReader().readText())
        assertEquals(2, process.exitValue())
    }
}

/** A client over Streamable HTTP, as little of it as a call needs. */
private class HttpSession(private val address: URI) {
    private val session = post(INITIALIZE, null).headers().firstValue("mcp-session-id").orElse(null)

    init {
        post("""{"jsonrpc":"2.0","method":"notifications/initialized"}""", session)
    }

    fun call(tool: String, meta: String): JsonObject {
        val body = post("""{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"$tool","arguments":{},"_meta":$meta}}""", session).body()
        return when (val answer = Json.parseToJsonElement(body)) {
            is JsonArray -> answer.single()
            else -> answer
        }.jsonObject["result"]!!.jsonObject
    }

    private fun post(body: String, session: String?) = HttpClient.newHttpClient().send(
        HttpRequest.newBuilder(address).apply {
            header("Content-Type", "application/json")
            header("Accept", "application/json, text/event-stream")
            session?.let { header("mcp-session-id", it) }
            POST(HttpRequest.BodyPublishers.ofString(body))
        }.build(),
        BodyHandlers.ofString(),
    )

    companion object {
        const val INITIALIZE =
            """{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"0"}}}"""
    }
}
