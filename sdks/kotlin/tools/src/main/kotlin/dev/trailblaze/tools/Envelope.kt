package dev.trailblaze.tools

import dev.trailblaze.JsonValues
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.buildJsonObject
import kotlinx.serialization.json.put
import kotlinx.serialization.json.putJsonObject

/** What Trailblaze sends with every call. */
internal object Envelope {
    /** The argument for servers that are written without an SDK. */
    private const val CONTEXT_ARGUMENT = "_trailblazeContext"

    /** The `_meta` of a call that is made in process. */
    fun of(device: TrailblazeDevice, memory: Map<String, Any?>): JsonObject = buildJsonObject {
        putJsonObject("trailblaze") {
            put("sessionId", "fake-session")
            put("invocationId", "fake-invocation")
            putJsonObject("device") {
                put("id", device.id)
                put("platform", device.platform.word)
                put("widthPixels", device.widthPixels)
                put("heightPixels", device.heightPixels)
                put("driverType", device.driverType)
            }
            put("memory", JsonValues.toJson(memory))
        }
    }

    fun withoutContext(arguments: JsonObject?): JsonObject = JsonObject(arguments.orEmpty() - CONTEXT_ARGUMENT)
}
