package com.example.wallet

import dev.trailblaze.testing.FakeDevice
import dev.trailblaze.tools.Delegate
import dev.trailblaze.tools.ToolResult
import dev.trailblaze.tools.ToolServer
import kotlinx.coroutines.runBlocking
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test

/** Unit tests of the tools, without Trailblaze: the device is a fake. */
class ToolsTest {
    private val server = ToolServer("wallet-tools").toolSet(WalletToolSet()).toolSet(::ButtonToolSet)

    @Test
    fun `another balance fails the check`() = runBlocking {
        val device = FakeDevice().apply { on("getElementText") { "€3.00" } }
        val result = server.call("wallet_checkBalance", mapOf("euros" to "5.00"), device)
        assertEquals(ToolResult.assertionFailed("the balance is €3.00, expected €5.00"), result)
    }

    @Test
    fun `taps are left to Trailblaze`() = runBlocking {
        val device = FakeDevice().apply { show("Settings") }
        val result = server.call("buttons_tapAll", mapOf("texts" to listOf("Settings", "Notifications")), device)
        assertEquals(listOf(Delegate("tap", "text" to "Settings"), Delegate("tap", "text" to "Notifications")), result.delegates)
        assertEquals(listOf("isVisible"), device.calls.map { it.tool })
    }
}
