package com.example.wallet

import dev.trailblaze.TrailblazeCommands
import dev.trailblaze.tools.Delegate
import dev.trailblaze.tools.HasRegistry
import dev.trailblaze.tools.LLMDescription
import dev.trailblaze.tools.Tool
import dev.trailblaze.tools.ToolMetadata
import dev.trailblaze.tools.ToolResult
import dev.trailblaze.tools.ToolSet

/** A second toolset. Its constructor takes the commands, so every call gets an object of its own. */
class ButtonToolSet(private val commands: TrailblazeCommands) : ToolSet, HasRegistry {
    override val registry = mapOf("buttons_tapAll" to ToolMetadata(isRecordable = false, isDelegating = true))

    @Tool(customName = "buttons_tapAll")
    @LLMDescription("Tap buttons one after the other.")
    suspend fun tapAll(@LLMDescription("The texts of the buttons, in order") texts: List<String>): ToolResult {
        // Queries are allowed; Trailblaze makes the taps.
        val first = texts.firstOrNull() ?: return ToolResult.failure("there are no buttons to tap")
        if (!commands.isVisible(text = first, timeoutMs = 5_000)) return ToolResult.failure("`$first` is not visible")
        return ToolResult.delegates(texts.map { Delegate("tap", "text" to it) })
    }
}
