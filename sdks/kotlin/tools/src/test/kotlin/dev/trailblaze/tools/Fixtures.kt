package dev.trailblaze.tools

import dev.trailblaze.REPOSITORY
import java.nio.file.Path
import kotlin.io.path.readText

/** The text of a source of these tests. */
internal fun source(path: String): String = REPOSITORY.resolve("sdks/kotlin/tools/src/test/kotlin").resolve(path).readText()

/** The command that starts a class of these tests. */
internal fun java(main: String): List<String> =
    listOf(
        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
        // It lives for seconds: optimising costs more than it gains.
        "-XX:TieredStopAtLevel=1",
        "-cp",
        System.getProperty("java.class.path"),
        main,
    )
