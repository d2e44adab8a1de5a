package com.example.listings

import dev.trailblaze.TrailblazeClient
import io.modelcontextprotocol.kotlin.sdk.server.Server
import io.modelcontextprotocol.kotlin.sdk.types.CallToolRequest
import io.modelcontextprotocol.kotlin.sdk.types.CallToolResult
import io.modelcontextprotocol.kotlin.sdk.types.TextContent
import kotlinx.serialization.json.JsonPrimitive
import kotlinx.serialization.json.jsonObject
import kotlinx.serialization.json.jsonPrimitive

fun addMyTool(mcpServer: Server) {
    mcpServer.addTool("my_tool", "Tap in the middle") { request: CallToolRequest ->
        // Extract metadata manually from request.meta
        val invocationId = request.meta?.get("trailblazeInvocationId")
            ?.let { (it as? JsonPrimitive)?.content }
        val baseUrl = request.meta?.get("trailblaze")
            ?.jsonObject?.get("baseUrl")?.jsonPrimitive?.content
            ?: "http://localhost:52525"

        // Create client with extracted context
        val tb = TrailblazeClient(baseUrl, invocationId)
        tb.tap(100, 200)
        CallToolResult(listOf(TextContent("tapped")))
    }
}
