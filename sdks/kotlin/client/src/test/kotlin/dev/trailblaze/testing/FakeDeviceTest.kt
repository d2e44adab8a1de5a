package dev.trailblaze.testing

import dev.trailblaze.ActionFailed
import dev.trailblaze.ApiError
import dev.trailblaze.AssertionFailed
import dev.trailblaze.TrailblazeCommands
import dev.trailblaze.TrailblazeDevicePlatform
import dev.trailblaze.messages.Element
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNotNull
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.fail

class FakeDeviceTest {
    private val device = FakeDevice()

    private suspend inline fun <reified T : Throwable> thrown(call: () -> Unit): T {
        try {
            call()
        } catch (problem: Throwable) {
            return problem as? T ?: throw problem
        }
        fail("nothing was thrown")
    }

    /** As a tool would be written. */
    private suspend fun login(tb: TrailblazeCommands, email: String) {
        if (tb.isVisible(text = "Accept Cookies")) tb.tap(text = "Accept Cookies")
        tb.tap(text = "Email")
        tb.inputText(email)
        tb.tap(text = "Sign in")
        tb.assertVisible(text = "Welcome")
    }

    @Test
    fun `a tool is tested with what the device shows and was asked`() = runTest {
        device.show("Email", "Sign in")
        device.on("tap") { call -> if (call.args["text"] == "Sign in") show("Welcome") }
        login(device, "ada@example.com")
        assertEquals(listOf("isVisible", "tap", "inputText", "tap", "assertVisible"), device.calls.map { it.tool })
        assertEquals(FakeCall("tap", mapOf("text" to "Email")), device.calls[1])
        assertEquals(listOf("ada@example.com"), device.typed)
    }

    @Test
    fun `what is not shown fails as on a device`() = runTest {
        device.show("Email")
        val failed = thrown<ActionFailed> { device.tap(text = "Sign in") }
        assertEquals("no element with text `Sign in` is visible; the fake device shows `Email`", failed.message)
        assertEquals("ExceptionThrown", failed.variant)
        thrown<AssertionFailed> { device.assertVisible(text = "Sign in", timeoutMs = 60_000) }
        thrown<AssertionFailed> { device.waitUntilVisible("Sign in", timeoutMs = 60_000) }
        assertNull(device.getElementText("none"))
        device.tap(10, 10)
    }

    @Test
    fun `elements have ids, refs and positions`() = runTest {
        device.show(
            listOf(
                Element(ref = "y1", role = "button", text = "Pay", id = "com.example:id/pay"),
                Element(role = "list", children = List(3) { Element(id = "item", text = "Item $it") }),
            ),
        )
        assertEquals("Pay", device.getElementText("pay"))
        assertEquals(3, device.getElementCount(id = "item"))
        assertTrue(device.hasText("Item"))
        device.tap(ref = "y1")
        device.tap(id = "item", index = 2)
        thrown<ActionFailed> { device.tap(id = "item", index = 3) }
        val screen = device.captureScreen()
        assertEquals("android", screen.platform)
        assertEquals("Item 1", screen.findAll(id = "item")[1].text)
        device.show("first", "second")
        assertEquals("second", device.captureScreen().elementAt(5, 150)?.text)
    }

    @Test
    fun `memory is kept`() = runTest {
        device.remember("user", "ada")
        device.remember("pin", "1")
        device.forget("pin")
        assertEquals(mapOf("user" to "ada"), device.dumpMemory())
        assertEquals(mapOf("user" to "ada"), device.memory)
    }

    @Test
    fun `a test decides what tools, shells, pages and models answer`() = runTest {
        device.on("acme_total") { call -> mapOf("total" to call.args["items"]) }
        assertEquals(mapOf("total" to 3), device.callTool("acme_total", mapOf("items" to 3)).structured)
        assertTrue("unknown tool `acme_none`" in thrown<ActionFailed> { device.callTool("acme_none") }.message)
        device.on("adbShell") { "ok" }
        assertEquals("ok", device.maestro?.adbShell("ls")?.output)
        assertTrue("no model" in thrown<ApiError> { device.askModel("Is it green?") }.reason)
        device.on("askModel") { "yes" }
        assertEquals("yes", device.askModel("Is it green?").text)
        device.on("launchApp") { throw ActionFailed("the app is not installed", "ExceptionThrown") }
        thrown<ActionFailed> { device.launchApp("com.example") }
        device.on("isVisible") { true }
        assertTrue(device.isVisible("anything"))
        val before = device.calls.size
        device.callTool("remember", mapOf("variable" to "a", "value" to "b"))
        assertEquals(mapOf("a" to "b"), device.memory)
        assertEquals(listOf(FakeCall("remember", mapOf("variable" to "a", "value" to "b"))), device.calls.drop(before))
    }

    @Test
    fun `arguments of built-in tools are checked as by Trailblaze`() = runTest {
        device.show("Pay")
        device.on("web_click") { "clicked" }
        device.on("acme_pay") { "paid" }
        device.callTool("tap", mapOf("text" to "Pay", "reasoning" to "it is due"))
        device.callTool("acme_pay", mapOf("anything" to 1))
        val wrong = mapOf("txt" to "Pay")
        assertEquals("`tap`: unknown argument `txt`; did you mean `text`?", thrown<ApiError> { device.callTool("tap", wrong) }.reason)
        val refused = thrown<ApiError> { device.callTool("remember", mapOf("nme" to "a", "value" to "b")) }
        assertTrue("`remember`: missing argument `variable`; unknown argument `nme`" in refused.reason, refused.reason)
        val wrongType = thrown<ApiError> { device.callTool("tap", mapOf("x" to "a", "y" to true)) }
        assertEquals("`tap`: `x`: \"a\" is not of type \"integer\"; `y`: true is not of type \"integer\"", wrongType.reason)
        device.on("swipe") { "swiped" }
        device.callTool("swipe", mapOf("direction" to "down", "timeoutMs" to null))
        val wrongWord = thrown<ApiError> { device.callTool("swipe", mapOf("direction" to "back")) }
        assertEquals("`swipe`: `direction`: \"back\" is not one of \"UP\", \"DOWN\", \"LEFT\", \"RIGHT\"", wrongWord.reason)
        assertTrue("unknown argument `reff`" in thrown<ApiError> { device.callTool("web_click", mapOf("reff" to "y1")) }.reason)
        assertEquals(listOf("tap", "acme_pay", "swipe"), device.calls.map { it.tool })
    }

    @Test
    fun `each platform has its groups of commands`() = runTest {
        assertNotNull(device.maestro)
        assertNull(device.playwright)
        val browser = FakeDevice(TrailblazeDevicePlatform.WEB)
        browser.on("evaluateJs") { 2 }
        assertEquals(2, browser.playwright?.evaluateJs("1 + 1"))
        assertNull(browser.maestro)
        assertNull(browser.desktop)
        assertNotNull(FakeDevice(TrailblazeDevicePlatform.DESKTOP).desktop)
        assertEquals(TrailblazeDevicePlatform.WEB, browser.platform)
        assertEquals("web", browser.getSession().device.platform)
        assertEquals(listOf("web/fake"), browser.listDevices().devices.map { it.id })
    }
}
