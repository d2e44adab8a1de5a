package com.example.listings.router

import dev.trailblaze.TrailblazeDevicePlatform
import kotlinx.serialization.Serializable
import kotlinx.serialization.json.Json

/** What a client of MCP reads. Trailblaze is the client; these classes are here because the listing is about the host's side. */
class Resource(val content: String)

fun interface McpClient {
    suspend fun readResource(uri: String): Resource
}

@Serializable
data class TrailblazeToolRegistry(val tools: Map<String, ToolMetadata> = emptyMap())

@Serializable
data class ToolMetadata(
    val platforms: Set<String> = emptySet(),
    val groups: Set<String> = emptySet(),
    val exposedToLlm: Boolean = true,
)

data class ToolInfo(val name: String)

class TrailblazeToolRouter {
    private val registries = mutableMapOf<String, TrailblazeToolRegistry>()

    suspend fun loadFromMcpServer(serverName: String, client: McpClient) {
        val resource = client.readResource("trailblaze://registry")
        registries[serverName] = json.decodeFromString(resource.content)
    }

    fun filterTools(platform: TrailblazeDevicePlatform, groups: Set<String>): List<ToolInfo> {
        return registries.values.flatMap { registry ->
            registry.tools.filter { (_, meta) ->
                meta.exposedToLlm &&
                    meta.platforms.contains(platform.word) &&
                    (groups.isEmpty() || meta.groups.intersect(groups).isNotEmpty())
            }.map { (name, _) -> ToolInfo(name) }
        }
    }

    private companion object {
        // A newer registry may say more.
        val json = Json { ignoreUnknownKeys = true }
    }
}
