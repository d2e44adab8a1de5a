package com.example.listings

import dev.trailblaze.TrailblazeCommands
import dev.trailblaze.TrailblazeDevicePlatform.ANDROID
import dev.trailblaze.TrailblazeDevicePlatform.IOS
import dev.trailblaze.TrailblazeDevicePlatform.WEB
import dev.trailblaze.tools.HasRegistry
import dev.trailblaze.tools.LLMDescription
import dev.trailblaze.tools.Tool
import dev.trailblaze.tools.ToolMetadata
import dev.trailblaze.tools.ToolResult
import dev.trailblaze.tools.ToolSet

class MyAppToolSet(
    private val commands: TrailblazeCommands,
) : ToolSet, HasRegistry by MyAppToolRegistry {

    // ═══════════════════════════════════════════════════════════════
    // TOOL NAMES (constants for type safety + refactoring)
    // ═══════════════════════════════════════════════════════════════
    object ToolNames {
        const val LOGIN = "myapp_login"
        const val CHECKOUT = "myapp_checkout"
        const val SETUP = "myapp_setup"
        const val HANDLE_DIALOGS = "myapp_handleDialogs"
    }

    // ═══════════════════════════════════════════════════════════════
    // TOOLS (using constants for stable names)
    // ═══════════════════════════════════════════════════════════════
    @Tool(customName = ToolNames.LOGIN)
    @LLMDescription("Log in to MyApp with credentials")
    suspend fun login(
        @LLMDescription("User email") email: String,
        @LLMDescription("User password") password: String,
    ): ToolResult {
        setup()  // Direct call to another tool (type-safe)
        commands.tap(text = "Sign in")
        commands.inputText(email)
        commands.inputText(password)
        commands.tap(text = "Submit")
        return ToolResult.success()
    }

    @Tool(customName = ToolNames.CHECKOUT)
    @LLMDescription("Complete checkout with current cart")
    suspend fun checkout(
        @LLMDescription("Amount in cents") amount: Int,
    ): ToolResult {
        commands.tap(text = "Checkout")
        commands.waitUntilVisible(text = "Payment Complete", timeoutMs = 10000)
        return ToolResult.success()
    }

    @Tool(customName = ToolNames.SETUP)
    @LLMDescription("Clear and launch MyApp")
    suspend fun setup(): ToolResult {
        commands.clearAppData("com.example.myapp")
        commands.launchApp("com.example.myapp")
        return ToolResult.success()
    }

    @Tool(customName = ToolNames.HANDLE_DIALOGS)
    suspend fun handleDialogs(): ToolResult {
        // Dismiss any blocking dialogs
        if (commands.isVisible(text = "Allow notifications")) {
            commands.tap(text = "Not now")
        }

        if (commands.isVisible(text = "Rate this app")) {
            commands.tap(text = "Maybe later")
        }

        // Check how many items are in a list
        val itemCount = commands.getElementCount(id = "list_item")
        if (itemCount == 0) {
            return ToolResult.failure("No items found")
        }

        return ToolResult.success()
    }
}

// Registry as separate object (delegated to ToolSet)
object MyAppToolRegistry : HasRegistry {
    override val registry = mapOf(
        MyAppToolSet.ToolNames.LOGIN to ToolMetadata(
            platforms = setOf(ANDROID, IOS),
            groups = setOf("auth", "setup"),
            exposedToLlm = true,
            isRecordable = true,
        ),
        MyAppToolSet.ToolNames.CHECKOUT to ToolMetadata(
            platforms = setOf(ANDROID, IOS, WEB),
            groups = setOf("checkout"),
            exposedToLlm = true,
            isRecordable = true,
        ),
        MyAppToolSet.ToolNames.SETUP to ToolMetadata(
            platforms = setOf(ANDROID, IOS),
            groups = setOf("setup"),
            exposedToLlm = false,  // Internal helper
            isRecordable = false,
        ),
    )
}
