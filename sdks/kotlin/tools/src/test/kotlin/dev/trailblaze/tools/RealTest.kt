package dev.trailblaze.tools

import dev.trailblaze.ActionFailed
import dev.trailblaze.AssertionFailed
import dev.trailblaze.TrailblazeCommands
import kotlinx.coroutines.runBlocking
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** Tool servers in Kotlin under the real Trailblaze, on simulated devices. */
class RealTest {
    private val login = mapOf("email" to "ada", "password" to "x")

    private fun failure(call: suspend () -> Unit): String = assertThrows(ActionFailed::class.java) { runBlocking { call() } }.message

    @Test
    fun `the listings act on a device`() = RealProject("com.example.ListingServerKt").use { project ->
        project.serving { tb ->
            tb.callTool("acme_driver_login", login)
            assertTrue(tb.isVisible(text = "Go Online"))
            tb.callTool("login", login)
            assertEquals("adax", tb.getElementText("email"))
            tb.callTool("tapButton", mapOf("text" to "Login"))
            assertTrue(tb.isVisible(text = "Dashboard"))

            tb.callTool("myapp_login", login)
            assertTrue(tb.isVisible(text = "Checkout"))
            assertTrue(tb.callTool("myapp_handleDialogs", emptyMap()).success)
            tb.callTool("myapp_checkout", mapOf("amount" to 1200))
            assertTrue(tb.isVisible(text = "Payment Complete"))
            assertEquals("No items found", failure { tb.callTool("myapp_handleDialogs", emptyMap()) })

            tb.launchApp("com.acme.driver")
            tb.callTool("tapOnLogin", emptyMap())
            assertTrue(tb.isVisible(text = "Dashboard"))
            metadata(tb)
        }
    }

    private suspend fun metadata(tb: TrailblazeCommands) {
        val tools = tb.listTools().tools.associateBy { it.name }
        val setup = tools.getValue("myapp_setup").metadata
        assertEquals(listOf("android", "ios") to listOf("setup"), setup.platforms to setup.groups)
        assertEquals(false to false, setup.exposedToLlm to setup.isRecordable)
        assertEquals(true, tools.getValue("tapOnLogin").metadata.isDelegating)
    }

    @Test
    fun `a server without the library acts on a device`() = RealProject("com.example.RawServerKt").use { project ->
        project.serving { tb ->
            tb.launchApp("com.acme.driver")
            assertEquals("tapped", tb.callTool("my_tool", emptyMap()).message)
        }
    }

    @Test
    fun `errors are those of the other languages with the line in Kotlin`() = RealProject("com.example.KitchenKt").use { project ->
        project.serving { tb ->
            tb.launchApp("com.acme.driver")
            val line = Regex(" \\(Kitchen\\.kt:(\\d+)\\)")
            val missing = failure { tb.callTool("kitchen_fail", mapOf("kind" to "tap")) }
            assertTrue(missing.startsWith("could not tap text \"what is not there\" within "), missing)
            val number = checkNotNull(line.find(missing)) { missing }.groupValues[1].toInt()
            assertTrue(source("com/example/Kitchen.kt").lines()[number - 1].contains("what is not there"), missing)

            val check = assertThrows(AssertionFailed::class.java) { runBlocking { tb.callTool("kitchen_check", emptyMap()) } }
            assertEquals("AssertionFailed", check.variant)
            assertTrue(line.containsMatchIn(check.message), check.message)

            tb.callTool("kitchen_keep", emptyMap())
            val late = failure { tb.callTool("kitchen_late", emptyMap()) }
            assertTrue(late.contains("(not_found)") && line.containsMatchIn(late), late)
            val lateMemory = failure { tb.callTool("kitchen_lateMemory", emptyMap()) }
            assertTrue(lateMemory.startsWith("`kitchen_keep` called `memory.set` after it had ended"), lateMemory)
            assertTrue(line.containsMatchIn(lateMemory), lateMemory)

            val nothing = failure { tb.callTool("kitchen_fail", mapOf("kind" to "silent")) }
            assertEquals("UnsupportedOperationException", nothing.replace(line, ""))
        }
    }

    @Test
    fun `a tool remembers and calls another tool of its server`() = RealProject("com.example.KitchenKt").use { project ->
        project.serving { tb ->
            tb.remember("bread", "white")
            tb.callTool("kitchen_remember", emptyMap())
            assertEquals(mapOf("cake" to mapOf("size" to 2), "tea" to "null!", "pie" to 3.5), tb.dumpMemory())
            assertEquals("android/sim-1, android/sim-1", tb.callTool("kitchen_nested", emptyMap()).message)
        }
    }

    @Test
    fun `a call that takes too long is cancelled and the server goes on`() {
        RealProject("com.example.KitchenKt", entry = mapOf("callTimeout" to "1s")).use { project ->
            project.serving { tb ->
                // Its coroutine is cancelled.
                val waiting = failure { tb.callTool("kitchen_wait", emptyMap()) }
                assertTrue(waiting.contains("kitchen_wait"), waiting)
                assertEquals("it was cancelled", tb.callTool("kitchen_cancelled", emptyMap()).message)
                // This one does not suspend, and cannot be cancelled.
                failure { tb.callTool("kitchen_block", mapOf("name" to "oven")) }
                assertEquals("[1,2]", tb.callTool("kitchen_count", emptyMap()).message)
                tb.callTool("kitchen_release", mapOf("name" to "oven"))
            }
        }
    }

    @Test
    fun `a tool asks the model of the run`() {
        val replies = "replies:\n  - {expect: {contains: What is it?}, reply: {text: A sign-in form.}}\n"
        val model = "llm: {defaults: {model: scripted/replies.yaml}}"
        RealProject("com.example.KitchenKt", entry = mapOf("sampling" to "true"), more = model).use { project ->
            project.write("replies.yaml", replies)
            project.serving { tb -> assertEquals("true: A sign-in form.", tb.callTool("kitchen_ask", mapOf("prompt" to "What is it?")).message) }
        }
        RealProject("com.example.KitchenKt", more = model).use { project ->
            project.write("replies.yaml", replies)
            project.serving { tb ->
                val refused = failure { tb.callTool("kitchen_ask", mapOf("prompt" to "What is it?")) }
                assertTrue(refused.contains("may not ask a model: set `sampling: true` in the entry of its server"), refused)
            }
        }
    }

    @Test
    fun `one process serves several devices and each call lands on its own`() {
        val devices = listOf("android/sim-1", "android/sim-2", "ios/sim-1")
        RealProject("com.example.ListingServerKt", devices, mapOf("multiDevice" to "http")).use { project ->
            for (user in listOf("ada", "grace", "alan")) {
                project.write(
                    "trails/$user.trail.yaml",
                    """
                    |config: {id: $user, title: $user signs in}
                    |trail:
                    |  - step: Sign in
                    |    tools:
                    |      - login: {email: $user, password: $user}
                    |      - assertVisible: {text: $user$user}
                    """.trimMargin(),
                )
            }
            val (exit, output) = project.run("run")
            assertEquals(0, exit, output)
        }
    }

    @Test
    fun `progress and log lines are recorded while a tool runs`() {
        for (transport in listOf("stdio", "http")) {
            RealProject("com.example.KitchenKt", entry = mapOf("multiDevice" to transport)).use { project ->
                val (exit, output) = project.run("tool", "kitchen_watch", "-d", "android/sim-1")
                assertEquals(0, exit, "$transport: $output")
                assertTrue(output.contains("2 recorded"), "$transport: $output")
            }
        }
    }
}
