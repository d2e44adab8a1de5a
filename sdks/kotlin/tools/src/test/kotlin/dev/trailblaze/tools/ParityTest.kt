package dev.trailblaze.tools

import dev.trailblaze.ParityCase
import dev.trailblaze.REPOSITORY
import dev.trailblaze.Served
import dev.trailblaze.TrailblazeClient
import kotlinx.coroutines.runBlocking
import kotlinx.serialization.json.Json
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonPrimitive
import kotlinx.serialization.json.jsonObject
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.io.TempDir
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.MethodSource
import java.net.URI
import java.net.http.HttpClient
import java.net.http.HttpRequest
import java.net.http.HttpResponse.BodyHandlers
import java.nio.file.Path
import kotlin.io.path.ExperimentalPathApi
import kotlin.io.path.appendText
import kotlin.io.path.copyToRecursively
import kotlin.io.path.readLines
import kotlin.io.path.readText

/** What a tool in Kotlin does is answered and recorded as what is done over the wire, nested in the tool's call. */
class ParityTest {
    @TempDir
    lateinit var folder: Path

    @ParameterizedTest
    @MethodSource("devices")
    @OptIn(ExperimentalPathApi::class)
    fun `every case is answered and recorded as over the wire`(device: String) {
        val project = "tests/parity/project"
        val expected = Served(device, project).use { served ->
            ParityCase.on(device).forEach { post(served, it) }
            served.end()
            callsOf(served.runFolder)
        }
        val own = folder.resolve("project")
        REPOSITORY.resolve(project).copyToRecursively(own, followLinks = false)
        val command = java("com.example.ParityServerKt").map { Json.encodeToString(it) }
        own.resolve("trailblaze.yaml").appendText("\nmcpServers: {parity: {command: ${command.first()}, args: ${command.drop(1)}, workingDir: $REPOSITORY}}\n")
        Served(device, "$own").use { served ->
            val result = runBlocking { TrailblazeClient(served.address, key = served.key).callTool("parity_answers", emptyMap()) }
            assertEquals("[]", result.message)
            served.end()
            val calls = callsOf(served.runFolder)
            assertEquals("0 parity_answers {}", calls.first().substringBefore(" ->"))
            assertTrue(expected.size > 2, "$expected")
            assertEquals(expected.joinToString("\n"), calls.drop(1).joinToString("\n") { it.drop(1).prependIndent("${it.first().digitToInt() - 1}") })
            val recording = served.runFolder.resolve("recording.trail.yaml").readText()
            assertTrue(recording.contains("- parity_answers: {}") && !recording.contains("tap"), recording)
        }
    }

    private fun post(served: Served, case: ParityCase) {
        val request = HttpRequest.newBuilder(URI.create("${served.address}/trailblaze.v1.${case.method}"))
            .header("Content-Type", "application/json").header("Authorization", "Bearer ${served.key}")
            .POST(HttpRequest.BodyPublishers.ofString(case.params.toString()))
        HttpClient.newHttpClient().send(request.build(), BodyHandlers.discarding())
    }

    /** All calls of a run in their order: how deep they are nested, the tool, its arguments and its result. */
    private fun callsOf(run: Path): List<String> {
        val (depths, calls) = HashMap<String, Int>() to LinkedHashMap<String, String>()
        for (line in run.resolve("events.jsonl").readLines()) {
            val event = (Json.parseToJsonElement(line).jsonObject["event"] as? JsonObject).orEmpty()
            (event["called"] as? JsonObject)?.let { called ->
                val id = text(called["call"])
                val depth = depths[text((called["parent"] as? JsonObject)?.get("call"))]?.plus(1) ?: 0
                depths[id] = depth
                calls[id] = "$depth ${text(called["tool"])} ${called["args"]}"
            }
            (event["answered"] as? JsonObject)?.let { answered ->
                calls.merge(text(answered["call"]), " -> ${answered["answer"]}".replace(Regex(" within [\\d.]+ s"), "")) { call, answer -> call + answer }
            }
        }
        return calls.values.toList()
    }

    private fun text(json: Any?): String = (json as? JsonPrimitive)?.content.orEmpty()

    private companion object {
        @JvmStatic
        fun devices(): List<String> = ParityCase.DEVICES
    }
}
