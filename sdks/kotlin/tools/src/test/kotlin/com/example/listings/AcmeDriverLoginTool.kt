package com.example.listings

import dev.trailblaze.TrailblazeCommands
import dev.trailblaze.tools.ToolResult
import dev.trailblaze.tools.TypedTrailblazeTool

// AcmeDriverLoginTool.kt
class AcmeDriverLoginTool(
    private val commands: TrailblazeCommands,  // Same interface as RPC!
) : TypedTrailblazeTool<Map<String, Any>> {

    override suspend fun execute(args: Map<String, Any>): ToolResult {
        commands.clearAppData("com.acme.driver")
        commands.launchApp("com.acme.driver")
        commands.tap(text = "Sign in")
        commands.inputText(args["email"] as String)
        commands.inputText(args["password"] as String)
        commands.tap(text = "Submit")
        commands.waitUntilVisible(text = "Go Online", timeoutMs = 10000)
        return ToolResult.success()
    }
}
