package com.example.listings

import dev.trailblaze.tools.Tool
import dev.trailblaze.tools.ToolSet
import kotlinx.serialization.Serializable

@Serializable
data class ReloadResult(val added: List<String>, val removed: List<String>, val total: Int)

class ReloadToolSet : ToolSet {
    @Tool
    fun reloadTools(): ReloadResult {
        // Scan tool directories
        // Re-read registries from MCP servers
        // Update tool index
        return ReloadResult(
            added = listOf("new_tool_1"),
            removed = emptyList(),
            total = 47,
        )
    }
}
