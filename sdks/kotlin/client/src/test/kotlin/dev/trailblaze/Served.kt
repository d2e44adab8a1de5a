package dev.trailblaze

import java.nio.file.Files
import java.nio.file.Path
import java.util.concurrent.TimeUnit
import kotlin.io.path.ExperimentalPathApi
import kotlin.io.path.copyToRecursively
import kotlin.io.path.createTempDirectory
import kotlin.io.path.deleteRecursively
import kotlin.io.path.readText
import kotlinx.serialization.json.Json
import kotlinx.serialization.json.jsonObject
import kotlinx.serialization.json.jsonPrimitive
import org.junit.jupiter.api.Assertions.fail
import org.junit.jupiter.api.Assumptions.assumeTrue

/** The root of the repository. */
val REPOSITORY: Path = generateSequence(Path.of("").toAbsolutePath()) { it.parent }.first { Files.exists(it.resolve("proto/trailblaze")) }

/** The real Trailblaze. If it is missing, the test is skipped; in CI, it fails. */
fun program(): Path {
    val path = Path.of(System.getenv("TRAILBLAZE_BIN") ?: "$REPOSITORY/target/debug/trailblaze")
    val hint = "$path does not exist; `cargo build -p trailblaze` builds it"
    if (System.getenv("CI").isNullOrEmpty()) assumeTrue(Files.exists(path), hint) else if (!Files.exists(path)) fail<Unit>(hint)
    return path
}

/** `trailblaze serve` on a device, with a copy of a project. It ends with its standard input. */
@OptIn(ExperimentalPathApi::class)
class Served(device: String, project: String) : AutoCloseable {
    private val folder = createTempDirectory("trailblaze-kotlin")
    private val process: Process
    val address: String
    val key: String
    val runFolder: Path

    init {
        val program = program()
        REPOSITORY.resolve(project).copyToRecursively(folder.resolve("project"), followLinks = false)
        val builder = ProcessBuilder("$program", "serve", "-d", device, "--json", "--until-stdin-closes")
        builder.directory(folder.resolve("project").toFile()).redirectError(folder.resolve("stderr").toFile())
        val environment = builder.environment()
        environment -= "TRAILBLAZE_BASE_URL"
        environment -= "TRAILBLAZE_SESSION"
        environment["XDG_RUNTIME_DIR"] = "$folder"
        process = builder.start()
        val line = process.inputReader().readLine() ?: fail("it did not start: ${folder.resolve("stderr").readText()}")
        val ready = Json.parseToJsonElement(line).jsonObject.mapValues { (_, value) -> value.jsonPrimitive.content }
        address = ready.getValue("address")
        key = Path.of(ready.getValue("keyFile")).readText().trim()
        runFolder = folder.resolve("project").resolve(ready.getValue("runFolder"))
    }

    /** Ends it, and waits until its record is complete. */
    fun end() {
        process.outputStream.close()
        if (!process.waitFor(30, TimeUnit.SECONDS)) process.destroyForcibly()
    }

    override fun close() {
        end()
        folder.deleteRecursively()
    }
}
