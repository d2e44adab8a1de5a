package com.example.wallet

import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Assertions.fail
import org.junit.jupiter.api.Assumptions.assumeTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.io.TempDir
import java.nio.file.Files
import java.nio.file.Path
import java.util.concurrent.TimeUnit
import kotlin.io.path.ExperimentalPathApi
import kotlin.io.path.copyTo
import kotlin.io.path.copyToRecursively
import kotlin.io.path.createDirectories
import kotlin.io.path.readText

/** The trails with the jar, on simulated phones. TRAILBLAZE_BIN names the program. */
@OptIn(ExperimentalPathApi::class)
class ExampleIT {
    @TempDir
    lateinit var project: Path

    @Test
    fun `the trails pass and are recorded and replayed`() {
        copy()
        assertTrue(trailblaze("run", "--record").contains("4 passed"))
        val recorded = project.resolve("trails/settings.trail.yaml").readText()
        assertTrue(recorded.contains("- tap:\n            text: Notifications"), recorded)
        val replayed = trailblaze("run")
        assertTrue(replayed.contains("4 passed"), replayed)
        assertFalse(calls().contains("buttons_tapAll"), "what it delegates to stands in its place")
        assertTrue(calls().contains("wallet_send"), "a tool that acts is recorded as itself")
    }

    @Test
    fun `both toolsets are in one list without problems`() {
        copy()
        val listed = trailblaze("toolbox", "-d", "android/sim-1")
        for (tool in listOf("wallet_login", "wallet_send", "buttons_tapAll", "tap(")) assertTrue(listed.contains(tool), "$tool: $listed")
        assertTrue(trailblaze("tool", "lint").contains("7 tools, no problems"))
    }

    private fun copy() {
        for (part in listOf("trailblaze.yaml", "trails", "trailblaze-config")) Path.of(part).copyToRecursively(project.resolve(part), followLinks = false)
        project.resolve("target").createDirectories()
        Path.of("target/wallet-tools.jar").copyTo(project.resolve("target/wallet-tools.jar"))
    }

    /** The calls of the last run, as JSON. */
    private fun calls(): String {
        val runs = Files.list(project.resolve("logs")).use { it.filter(Files::isDirectory).sorted().toList() }
        return runs.last().resolve("events.jsonl").readText().lines().filter { "\"called\"" in it }.joinToString("\n")
    }

    private fun trailblaze(vararg args: String): String {
        val program = Path.of(System.getenv("TRAILBLAZE_BIN") ?: "../../target/debug/trailblaze").toAbsolutePath().normalize()
        val hint = "$program does not exist; `cargo build -p trailblaze` builds it"
        if (System.getenv("CI").isNullOrEmpty()) assumeTrue(Files.exists(program), hint) else if (!Files.exists(program)) fail<Unit>(hint)
        val process = ProcessBuilder(listOf("$program") + args).directory(project.toFile()).redirectErrorStream(true).start()
        process.outputStream.close()
        val output = process.inputReader().readText()
        assertTrue(process.waitFor(120, TimeUnit.SECONDS), output)
        assertEquals(0, process.exitValue(), output)
        return output
    }
}
