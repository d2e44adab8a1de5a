package com.example.listings.types

import dev.trailblaze.messages.Element
import dev.trailblaze.messages.ScreenState
import dev.trailblaze.tools.DelegatingTrailblazeTool
import dev.trailblaze.tools.ExecutableTrailblazeTool
import dev.trailblaze.tools.LLMDescription
import dev.trailblaze.tools.TrailblazeToolClass
import dev.trailblaze.tools.TrailblazeToolExecutionContext
import dev.trailblaze.tools.TrailblazeToolResult

/** What the listing takes from Maestro. Trailblaze has commands instead of objects that stand for them. */
class InputTextCommand(val text: String)

class Agent(private val ctx: TrailblazeToolExecutionContext) {
    suspend fun runMaestroCommands(commands: List<InputTextCommand>) = commands.forEach { ctx.client.inputText(it.text) }
}

val TrailblazeToolExecutionContext.trailblazeAgent: Agent
    get() = Agent(this)

@TrailblazeToolClass(name = "myapp_inputText")
class InputTextTrailblazeTool(val text: String) : ExecutableTrailblazeTool {
    override suspend fun execute(ctx: TrailblazeToolExecutionContext): TrailblazeToolResult {
        ctx.trailblazeAgent.runMaestroCommands(listOf(InputTextCommand(text)))
        return TrailblazeToolResult.Success
    }
}

/** A tool of Trailblaze, named so that it can be delegated to. */
@TrailblazeToolClass(name = "tapOnElementWithText")
class TapOnElementWithTextTrailblazeTool(val text: String?, val id: String? = null) : ExecutableTrailblazeTool {
    override suspend fun execute(ctx: TrailblazeToolExecutionContext): TrailblazeToolResult {
        ctx.client.tap(text = text, id = id)
        return TrailblazeToolResult.Success
    }
}

fun findElementByNode(nodeId: Long, screenState: ScreenState): Element = screenState.root.walk().elementAt(nodeId.toInt())

// LLM calls this with a nodeId (ephemeral, screen-specific)
@TrailblazeToolClass(name = "tapOnElementByNodeId", isRecordable = false)
class TapOnElementByNodeIdTrailblazeTool(
    val nodeId: Long,
    val reason: String,
) : DelegatingTrailblazeTool {
    override fun toExecutableTrailblazeTools(ctx: TrailblazeToolExecutionContext): List<ExecutableTrailblazeTool> {
        // Convert nodeId to stable selector
        val element = findElementByNode(nodeId, ctx.screenState)

        // Delegate to a RECORDABLE tool with stable properties
        return listOf(TapOnElementWithTextTrailblazeTool(text = element.text, id = element.id))
    }
}

// The shorter listing of the same pattern.
@TrailblazeToolClass(name = "tapOnLogin")
class TapOnLoginTrailblazeTool : DelegatingTrailblazeTool {
    override fun toExecutableTrailblazeTools(ctx: TrailblazeToolExecutionContext): List<ExecutableTrailblazeTool> {
        // Return what Trailblaze should execute
        return listOf(TapOnElementWithTextTrailblazeTool(text = "Login"))
    }
}

// Custom Trailblaze annotations
@TrailblazeToolClass(name = "myapp_login", isRecordable = true)
@LLMDescription("Log in to MyApp")
class MyAppLoginTool(
    val email: String,
    val password: String,
) : ExecutableTrailblazeTool {
    override suspend fun execute(ctx: TrailblazeToolExecutionContext): TrailblazeToolResult {
        ctx.client.inputText(email)
        ctx.client.inputText(password)
        return TrailblazeToolResult.Success
    }
}
