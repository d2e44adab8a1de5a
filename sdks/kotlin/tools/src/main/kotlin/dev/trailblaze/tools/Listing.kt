package dev.trailblaze.tools

import io.modelcontextprotocol.kotlin.sdk.server.Server
import io.modelcontextprotocol.kotlin.sdk.types.GetTaskPayloadResult
import io.modelcontextprotocol.kotlin.sdk.types.ListToolsRequest
import io.modelcontextprotocol.kotlin.sdk.types.ListToolsResult
import io.modelcontextprotocol.kotlin.sdk.types.McpJson
import io.modelcontextprotocol.kotlin.sdk.types.Method
import kotlinx.serialization.json.JsonArray
import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.encodeToJsonElement
import kotlinx.serialization.json.jsonArray
import kotlinx.serialization.json.jsonObject
import kotlinx.serialization.json.jsonPrimitive

/**
 * The answer to `tools/list`. MCP's library has no place for `additionalProperties` in the schema of a tool, so this adds it to the
 * answer of the library.
 */
internal object Listing {
    /** Lets all sessions of a server answer with these schemas, by the name of the tool. */
    fun addTo(server: Server, schemas: () -> Map<String, JsonObject>) {
        server.onConnect {
            for (session in server.sessions.values) {
                session.setRequestHandler<ListToolsRequest>(Method.Defined.ToolsList) { _, _ ->
                    // The only result of the library that may be any JSON.
                    GetTaskPayloadResult(complete(ListToolsResult(server.tools.values.map { it.tool }), schemas()))
                }
            }
        }
    }

    private fun complete(result: ListToolsResult, schemas: Map<String, JsonObject>): JsonObject {
        val listed = McpJson.encodeToJsonElement(result).jsonObject
        val tools = listed.getValue("tools").jsonArray.map { complete(it.jsonObject, schemas) }
        return JsonObject(listed + ("tools" to JsonArray(tools)))
    }

    private fun complete(tool: JsonObject, schemas: Map<String, JsonObject>): JsonElement {
        val further = schemas[tool.getValue("name").jsonPrimitive.content]?.get(Schema.FURTHER) ?: return tool
        val schema = JsonObject(tool.getValue("inputSchema").jsonObject + (Schema.FURTHER to further))
        return JsonObject(tool + ("inputSchema" to schema))
    }
}
