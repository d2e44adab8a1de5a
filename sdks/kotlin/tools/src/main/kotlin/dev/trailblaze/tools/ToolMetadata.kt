package dev.trailblaze.tools

import dev.trailblaze.TrailblazeDevicePlatform
import kotlinx.serialization.json.JsonArray
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.add
import kotlinx.serialization.json.buildJsonArray
import kotlinx.serialization.json.buildJsonObject
import kotlinx.serialization.json.put
import kotlinx.serialization.json.putJsonObject

/**
 * What Trailblaze knows about a tool besides its description and parameters.
 *
 * @property platforms The platforms that it supports. If empty, all.
 * @property groups The groups that it belongs to.
 * @property exposedToLlm Whether models are offered the tool. Trails can always call it.
 * @property isRecordable Whether its calls are recorded.
 * @property isDelegating Whether it returns calls for Trailblaze to make, which are recorded instead of its own.
 * @property requiresHost Whether it is unavailable if the agent runs on the device.
 * @property drivers The keys of the drivers that it supports. If empty, all.
 * @property toolset The toolset of the project that it joins.
 */
public data class ToolMetadata(
    val platforms: Set<TrailblazeDevicePlatform> = emptySet(),
    val groups: Set<String> = emptySet(),
    val exposedToLlm: Boolean = true,
    val isRecordable: Boolean = true,
    val isDelegating: Boolean = false,
    val requiresHost: Boolean = false,
    val drivers: Set<String> = emptySet(),
    val toolset: String? = null,
)

/**
 * A group of tools.
 *
 * @property description What its tools are for.
 * @property defaultEnabled Whether models are offered its tools unless a session asks for other groups.
 */
public data class GroupInfo(val description: String, val defaultEnabled: Boolean = true)

/** The flags of a tool as `_meta`. What equals the default is left out. */
internal fun ToolMetadata.toMeta(): JsonObject? {
    val flags = buildJsonObject {
        if (!exposedToLlm) put("trailblaze/isForLlm", false)
        if (!isRecordable) put("trailblaze/isRecordable", false)
        if (isDelegating) put("trailblaze/isDelegating", true)
        if (requiresHost) put("trailblaze/requiresHost", true)
        if (drivers.isNotEmpty()) put("trailblaze/supportedDrivers", drivers.toJson())
        if (platforms.isNotEmpty()) put("trailblaze/supportedPlatforms", platforms.map { it.word }.toJson())
        toolset?.let { put("trailblaze/toolset", it) }
        if (groups.isNotEmpty()) put("trailblaze/groups", groups.toJson())
    }
    return flags.takeIf { it.isNotEmpty() }
}

/** The resource `trailblaze://registry`. */
internal fun registryJson(
    tools: Map<String, ToolMetadata>,
    groups: Map<String, GroupInfo>,
    server: String,
    version: String,
): JsonObject = buildJsonObject {
    putJsonObject("tools") {
        for ((name, tool) in tools) {
            putJsonObject(name) {
                if (tool.platforms.isNotEmpty()) put("platforms", tool.platforms.map { it.word }.toJson())
                if (tool.groups.isNotEmpty()) put("groups", tool.groups.toJson())
                put("exposedToLlm", tool.exposedToLlm)
                put("isRecordable", tool.isRecordable)
                put("isDelegating", tool.isDelegating)
            }
        }
    }
    putJsonObject("groups") {
        for ((name, group) in groups) {
            putJsonObject(name) {
                put("description", group.description)
                put("defaultEnabled", group.defaultEnabled)
            }
        }
    }
    putJsonObject("serverInfo") {
        put("name", server)
        put("version", version)
    }
}

private fun Iterable<String>.toJson(): JsonArray = buildJsonArray { forEach { add(it) } }
