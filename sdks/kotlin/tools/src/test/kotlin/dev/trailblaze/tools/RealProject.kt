package dev.trailblaze.tools

import dev.trailblaze.REPOSITORY
import dev.trailblaze.TrailblazeClient
import dev.trailblaze.program
import kotlinx.coroutines.runBlocking
import kotlinx.serialization.json.Json
import kotlinx.serialization.json.jsonObject
import kotlinx.serialization.json.jsonPrimitive
import org.junit.jupiter.api.Assertions.fail
import java.nio.file.Path
import java.util.concurrent.TimeUnit
import kotlin.io.path.ExperimentalPathApi
import kotlin.io.path.copyTo
import kotlin.io.path.createDirectories
import kotlin.io.path.createTempDirectory
import kotlin.io.path.deleteRecursively
import kotlin.io.path.readText
import kotlin.io.path.writeText

/** A project with two apps on simulated devices, and a tool server in Kotlin, for the real Trailblaze. */
@OptIn(ExperimentalPathApi::class)
internal class RealProject(main: String, devices: List<String> = listOf("android/sim-1"), entry: Map<String, String> = emptyMap(), more: String = "") : AutoCloseable {
    val folder: Path = createTempDirectory("trailblaze-kotlin")
    private val program = program()

    init {
        REPOSITORY.resolve("sdks/python/tests/listings/driver.app.yaml").copyTo(folder.resolve("driver.app.yaml"))
        write("myapp.app.yaml", MY_APP)
        val command = java(main).map { Json.encodeToString(it) }
        val keys = entry.entries.joinToString("") { (key, value) -> "\n    $key: $value" }
        write(
            "trailblaze.yaml",
            """
            |devices: [${devices.joinToString { "{id: $it}" }}]
            |sim: {apps: [driver.app.yaml, myapp.app.yaml]}
            |mcpServers:
            |  kotlin:
            |    command: ${command.first()}
            |    args: ${command.drop(1)}$keys
            |$more
            """.trimMargin(),
        )
    }

    fun write(path: String, text: String) {
        val file = folder.resolve(path)
        file.parent.createDirectories()
        file.writeText(text)
    }

    /** Runs a command to its end. Returns its exit code and its output. */
    fun run(vararg args: String): Pair<Int, String> {
        val process = start(*args).redirectErrorStream(true).start()
        process.outputStream.close()
        val output = process.inputReader().readText()
        check(process.waitFor(McpProcess.LIMIT, TimeUnit.SECONDS)) { "it did not end: $output" }
        return process.exitValue() to output
    }

    /** Opens a session, and passes a client of it. */
    fun <T> serving(device: String = "android/sim-1", test: suspend (TrailblazeClient) -> T): T {
        val process = start("serve", "-d", device, "--json", "--until-stdin-closes").redirectError(folder.resolve("stderr").toFile()).start()
        try {
            val line = process.inputReader().readLine() ?: fail("it did not start: ${folder.resolve("stderr").readText()}")
            val ready = Json.parseToJsonElement(line).jsonObject.mapValues { (_, value) -> value.jsonPrimitive.content }
            val key = Path.of(ready.getValue("keyFile")).readText().trim()
            return runBlocking { test(TrailblazeClient(ready.getValue("address"), key = key)) }
        } finally {
            process.outputStream.close()
            if (!process.waitFor(McpProcess.LIMIT, TimeUnit.SECONDS)) process.destroyForcibly()
        }
    }

    private fun start(vararg args: String) = ProcessBuilder(listOf("$program") + args).directory(folder.toFile()).apply {
        environment() -= setOf("TRAILBLAZE_BASE_URL", "TRAILBLAZE_SESSION")
        environment()["XDG_RUNTIME_DIR"] = "$folder"
    }

    override fun close() = folder.deleteRecursively()

    private companion object {
        const val MY_APP = """
app: {id: com.example.myapp, name: MyApp}
start: signIn
screens:
  signIn:
    elements:
      - {id: email, role: field, hint: Sign in}
      - {id: submit, role: button, text: Submit, tap: {goto: shop}}
  shop:
    elements:
      - {id: allow, text: Allow notifications}
      - {id: not, role: button, text: Not now}
      - {id: list_item, text: Coffee}
      - {id: checkout, role: button, text: Checkout, tap: {goto: done}}
  done:
    elements:
      - {text: Payment Complete}
"""
    }
}
