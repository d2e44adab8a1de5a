package dev.trailblaze

import java.net.URI
import java.net.http.HttpClient
import java.net.http.HttpRequest
import java.net.http.HttpResponse
import java.nio.file.Path
import kotlin.io.path.exists
import kotlin.io.path.readLines
import kotlin.io.path.readText
import kotlinx.coroutines.runBlocking
import kotlinx.serialization.json.Json
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.jsonObject
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.MethodSource

/** The cases of tests/parity against the real program. */
class ParityTest {
    @ParameterizedTest
    @MethodSource("devices")
    fun `every case is answered and recorded as over the wire`(device: String) {
        val cases = ParityCase.on(device)
        val expected = Served(device, "tests/parity/project").use { served ->
            cases.forEach { post(served, it) }
            served.end()
            record(served.runFolder)
        }
        assertTrue(cases.isNotEmpty() && expected.second.size >= cases.size, "${cases.size} cases, ${expected.second}")
        Served(device, "tests/parity/project").use { served ->
            // Without its platform, a client has all groups.
            val tb = TrailblazeClient(served.address, key = served.key)
            val wrong = runBlocking {
                cases.mapNotNull { case ->
                    answerOf(tb, case).takeIf { it != case.answer }?.let { "$case\n  got      $it\n  expected ${case.answer}" }
                }
            }
            assertEquals(emptyList<String>(), wrong)
            served.end()
            assertEquals(expected, record(served.runFolder))
        }
    }

    private fun post(served: Served, case: ParityCase) {
        val request = HttpRequest.newBuilder(URI.create("${served.address}/trailblaze.v1.${case.method}"))
            .header("Content-Type", "application/json")
            .header("Authorization", "Bearer ${served.key}")
            .POST(HttpRequest.BodyPublishers.ofString(case.params.toString()))
        http.send(request.build(), HttpResponse.BodyHandlers.discarding())
    }

    /** The recording, and the tree of calls with their arguments and results. */
    private fun record(run: Path): Pair<String, List<String>> {
        val recording = run.resolve("recording.trail.yaml").takeIf { it.exists() }?.readText().orEmpty()
        val events = run.resolve("events.jsonl").readLines().mapNotNull { line ->
            val event = (Json.parseToJsonElement(line).jsonObject["event"] as? JsonObject).orEmpty()
            val called = event["called"] as? JsonObject
            val answered = event["answered"] as? JsonObject
            // Ids and times differ.
            when {
                called != null -> "called ${called["origin"]} ${called["tool"]} ${called["args"]}"
                answered != null -> "answered ${answered["answer"]}".replace(Regex(" within [\\d.]+ s"), "")
                else -> null
            }
        }
        return recording to events
    }

    private companion object {
        val http: HttpClient by lazy { HttpClient.newHttpClient() }

        @JvmStatic
        fun devices(): List<String> = ParityCase.DEVICES
    }
}
