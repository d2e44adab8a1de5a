package com.example.listings

import dev.trailblaze.DesktopCommands
import dev.trailblaze.MaestroCommands
import dev.trailblaze.PlaywrightCommands
import dev.trailblaze.ScrollDirection
import dev.trailblaze.SwipeDirection
import dev.trailblaze.TrailblazeCommands
import dev.trailblaze.TrailblazeDevicePlatform
import dev.trailblaze.messages.ActionResult
import dev.trailblaze.messages.ScreenState
import dev.trailblaze.messages.ShellResult

/** The interfaces of the first listing, as calls: each function with the parameters, in the order and with the types that it has there. */
class CommandsListing(private val commands: TrailblazeCommands) {
    suspend fun actions(): List<ActionResult> = listOf(
        commands.tap("Sign in", null, 0),
        commands.tap(text = "Sign in"),
        commands.tap(id = "sign_in"),
        commands.tap(text = "Sign in", id = "sign_in", index = 0),
        commands.inputText("ada@example.com"),
        commands.launchApp("com.example.myapp"),
        commands.clearAppData("com.example.myapp"),
    )

    suspend fun queries(): List<Any?> {
        val isVisible: Boolean = commands.isVisible(text = "Sign in", id = null, timeoutMs = 10L)
        val hasText: Boolean = commands.hasText("Sign")
        val text: String? = commands.getElementText("sign_in")
        val count: Int = commands.getElementCount(text = "Sign in", id = null)
        val screen: ScreenState = commands.captureScreen()
        return listOf(isVisible, hasText, text, count, screen.platform)
    }

    suspend fun assertions(): List<ActionResult> = listOf(
        commands.assertVisible(text = "Sign in", id = null, timeoutMs = 10L),
        commands.waitUntilVisible("Sign in", 10L),
    )

    suspend fun backends(): List<Any?> {
        val platform: TrailblazeDevicePlatform = commands.platform
        val maestro: MaestroCommands? = commands.maestro
        val playwright: PlaywrightCommands? = commands.playwright
        val desktop: DesktopCommands? = commands.desktop
        maestro?.let { mobile(it) }
        playwright?.let { web(it) }
        return listOf(platform, maestro != null, playwright != null, desktop != null)
    }

    private suspend fun mobile(maestro: MaestroCommands) {
        val shell: ShellResult = maestro.adbShell("ls")
        check(shell.exitCode == 0)
        maestro.grantPermission("com.example.myapp", "android.permission.CAMERA")
        maestro.pressBack()
        maestro.pressHome()
        maestro.swipe(SwipeDirection.UP, durationMs = 100L)
        maestro.scroll(ScrollDirection.DOWN, amount = 2)
        // The contract has doubles only.
        maestro.pinch(2.0)
    }

    private suspend fun web(playwright: PlaywrightCommands) {
        playwright.navigate("https://example.com")
        playwright.click("#pay")
        playwright.fill("#name", "Ada")
        playwright.waitForSelector("#done", timeoutMs = 10L)
        val value: Any? = playwright.evaluateJs("1 + 1")
        check(value == null || value is Number)
    }
}
