package dev.trailblaze.tools

import java.nio.file.Path
import kotlin.io.path.absolute
import kotlin.io.path.exists
import kotlin.io.path.readText

/** The folder of the repository. */
internal val repository: Path = generateSequence(Path.of("").absolute()) { it.parent }.first { it.resolve("proto/trailblaze").exists() }

/** The text of a source of these tests. */
internal fun source(path: String): String = repository.resolve("sdks/kotlin/tools/src/test/kotlin").resolve(path).readText()

/** The command that starts a class of these tests. */
internal fun java(main: String): List<String> =
    listOf(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-cp", System.getProperty("java.class.path"), main)
