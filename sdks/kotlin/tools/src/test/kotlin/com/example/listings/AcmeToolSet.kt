package com.example.listings

import dev.trailblaze.tools.LLMDescription
import dev.trailblaze.tools.Tool
import dev.trailblaze.tools.ToolResult
import dev.trailblaze.tools.TrailblazeContext
import dev.trailblaze.tools.TrailblazeTool
import dev.trailblaze.tools.TrailblazeToolSet
import kotlinx.serialization.Serializable

// OPTION 1: Keep using TrailblazeTool data classes (existing pattern)
// The data class is deserialized from args, context is injected separately
@Serializable
data class LoginTool(
    val email: String,
    val password: String,
) : TrailblazeTool

class AcmeToolSet : TrailblazeToolSet {
    @Tool
    @LLMDescription("Log in to Acme Driver app")
    suspend fun login(
        tool: LoginTool,              // TrailblazeTool data class - type-safe!
        ctx: TrailblazeContext,       // Injected for _meta access
    ): ToolResult {
        val tb = ctx.client
        tb.clearAppData("com.acme.driver")
        tb.launchApp("com.acme.driver")
        tb.tap(text = "Sign in")
        tb.inputText(tool.email)      // Access via data class
        tb.inputText(tool.password)
        return ToolResult.success()
    }
}

// OPTION 2: Flat parameters (simpler for small tools)
class SimpleToolSet : TrailblazeToolSet {
    @Tool
    @LLMDescription("Tap a button by text")
    suspend fun tapButton(
        text: String,
        ctx: TrailblazeContext,
    ): ToolResult {
        ctx.client.tap(text = text)
        return ToolResult.success()
    }
}
