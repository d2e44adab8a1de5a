package dev.trailblaze

import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.map
import kotlinx.coroutines.flow.onStart
import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.JsonNull
import kotlinx.serialization.json.JsonObject

/** Carries messages to the methods of a device and back. A method is named as in `TrailblazeCommands/Tap`. */
internal interface Transport {
    suspend fun call(method: String, params: JsonObject): JsonObject

    fun stream(method: String, params: JsonObject): Flow<JsonObject>
}

/** Is told the name of each command, or of the tool that `callTool` calls, before it is sent. What it throws is thrown to the caller. */
internal typealias CommandCheck = (name: String) -> Unit

/** Is told what a command with this name threw, in the coroutine that called it. */
internal typealias FailureListener = suspend (name: String, thrown: Throwable) -> Unit

/** Makes the calls of the generated classes: parameters to JSON, and JSON to values or errors. */
internal class Calls(
    private val transport: Transport,
    private val allow: CommandCheck = {},
    private val failed: FailureListener = { _, _ -> },
) {
    /** Calls an action, and throws if it failed. */
    suspend fun <T> act(method: String, params: Map<String, Any?>, reader: (Fields) -> T): T =
        told(method, params) { settle(call(method, params), isAssertion = false, reader) }

    /** Calls an assertion, and throws if it failed. */
    suspend fun <T> check(method: String, params: Map<String, Any?>, reader: (Fields) -> T): T =
        told(method, params) { settle(call(method, params), isAssertion = true, reader) }

    /** Calls a method that returns a message or a value. */
    suspend fun <T> get(method: String, params: Map<String, Any?>, reader: (Fields) -> T): T =
        told(method, params) { read(call(method, params), reader) }

    /** Calls a method that returns messages until it ends. */
    fun <T> stream(method: String, params: Map<String, Any?>, reader: (Fields) -> T): Flow<T> =
        transport.stream(method, json(params)).onStart { allow(nameOf(method, params)) }.map { read(it, reader) }

    private suspend inline fun <T> told(method: String, params: Map<String, Any?>, call: () -> T): T = try {
        traced(call)
    } catch (thrown: Throwable) {
        if (thrown is TrailblazeError) failed(nameOf(method, params), thrown)
        throw thrown
    }

    private suspend fun call(method: String, params: Map<String, Any?>): JsonObject {
        allow(nameOf(method, params))
        return transport.call(method, json(params))
    }

    private fun nameOf(method: String, params: Map<String, Any?>): String {
        val command = method.substringAfter('/').replaceFirstChar(Char::lowercase)
        return params["name"].takeIf { command == "callTool" } as? String ?: command
    }

    private fun <T> settle(message: JsonObject, isAssertion: Boolean, reader: (Fields) -> T): T {
        val result = read(message) { Triple(it.boolean("success"), it.text("message"), it.text("variant")) }
        val (isSuccess, text, variant) = result
        if (isSuccess) return read(message, reader)
        val said = text.ifEmpty { "it failed" }
        if (isAssertion || variant == ASSERTION_FAILED) throw AssertionFailed(said, variant.ifEmpty { ASSERTION_FAILED })
        throw ActionFailed(said, variant)
    }

    private fun <T> read(message: JsonObject, reader: (Fields) -> T): T = try {
        reader(Fields(message))
    } catch (problem: WrongField) {
        throw ApiError(Code.INTERNAL, "the response is not as in the contract: ${problem.message}")
    } catch (_: StackOverflowError) {
        throw ApiError(Code.RESOURCE_EXHAUSTED, "the response is nested too deeply")
    }

    /** Parameters that are null are not sent. */
    private fun json(params: Map<String, Any?>): JsonObject {
        val sent = LinkedHashMap<String, JsonElement>()
        for ((name, value) in params) if (value != null && value !is JsonNull) sent[name] = JsonValues.toJson(value)
        return JsonObject(sent)
    }

    private companion object {
        const val ASSERTION_FAILED = "AssertionFailed"
    }
}
