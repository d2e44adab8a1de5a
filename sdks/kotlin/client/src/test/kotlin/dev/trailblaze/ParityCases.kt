package dev.trailblaze

import dev.trailblaze.messages.ActionResult
import dev.trailblaze.messages.ScreenState
import dev.trailblaze.messages.ShellResult
import dev.trailblaze.messages.ToolResult
import dev.trailblaze.messages.WindowList
import kotlin.io.path.readText
import kotlinx.serialization.json.Json
import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.jsonArray
import kotlinx.serialization.json.jsonObject
import kotlinx.serialization.json.jsonPrimitive

/** A case of tests/parity, which every protocol and client answers alike. */
class ParityCase(private val json: JsonObject) {
    val device: String = text("on")
    val name: String = text("name")
    val method: String = text("method")
    val params: JsonObject = json.getValue("params").jsonObject
    val answer: JsonElement = json.getValue("answer")

    /** In Kotlin, a required argument cannot be left out, and a word that an enum lacks cannot be passed. */
    val isPossible: Boolean = "missing argument" !in "$answer" && "must be one of" !in "$answer"

    override fun toString(): String = "$device: $name"

    private fun text(key: String) = json.getValue(key).jsonPrimitive.content

    companion object {
        val DEVICES = listOf("android/sim-1", "ios/sim-1", "web/sim-1", "desktop/sim-1")

        fun on(device: String): List<ParityCase> =
            Json.parseToJsonElement(REPOSITORY.resolve("tests/parity/cases.json").readText()).jsonArray
                .map { ParityCase(it.jsonObject) }
                .filter { it.device == device && it.isPossible }
    }
}

/** What a client answers, in the form that all clients are compared in. */
suspend fun answerOf(tb: TrailblazeCommands, case: ParityCase): JsonElement = JsonValues.toJson(
    try {
        mapOf("ok" to plain(call(tb, case.method, case.params.mapValues { (_, value) -> JsonValues.fromJson(value) })))
    } catch (failed: ActionFailed) {
        mapOf("failed" to failed.variant, "message" to withoutTimes(failed.message))
    } catch (failed: AssertionFailed) {
        mapOf("failed" to failed.variant, "message" to withoutTimes(failed.message))
    } catch (error: ApiError) {
        mapOf("error" to error.code.word, "message" to error.reason)
    },
)

private fun plain(returned: Any?): Any? = when (returned) {
    is ActionResult -> null
    is ToolResult -> returned.structured
    is ShellResult -> mapOf("output" to returned.output, "exitCode" to returned.exitCode)
    is ScreenState -> mapOf(
        "platform" to returned.platform,
        "width" to returned.width,
        "height" to returned.height,
        "app" to returned.app,
        "texts" to returned.elements.mapNotNull { it.text },
        "picture" to returned.picture?.mime,
    )
    is WindowList -> returned.windows.map {
        listOf(it.id, it.title, it.app, it.bounds?.right, it.bounds?.bottom, it.active)
    }
    else -> returned
}

private fun withoutTimes(text: String): String = text.replace(Regex(" within [\\d.]+ s"), "")

private suspend fun call(tb: TrailblazeCommands, method: String, params: Map<String, Any?>): Any? {
    fun text(name: String) = params[name] as String?
    fun must(name: String) = checkNotNull(text(name)) { "$method: $name" }
    fun int(name: String) = params[name] as Int?
    fun millis(name: String = "timeoutMs") = int(name)?.toLong()
    fun flag(name: String) = params[name] as Boolean?
    fun direction() = text("direction")?.let { Direction.valueOf(it.uppercase()) }
    val (service, rpc) = method.split('/')
    val group: Any? = when (service) {
        "MaestroCommands" -> tb.maestro
        "PlaywrightCommands" -> tb.playwright
        "DesktopCommands" -> tb.desktop
        else -> tb
    }
    // A group that the device lacks is absent; its commands can be called by name.
    if (group == null) return tb.callTool(rpc.replaceFirstChar(Char::lowercase), params)
    val maestro = { checkNotNull(tb.maestro) }
    val playwright = { checkNotNull(tb.playwright) }
    val desktop = { checkNotNull(tb.desktop) }
    return when (rpc) {
        "Tap" -> tb.tap(
            text("text"), text("id"), int("index"), int("x"), int("y"), text("ref"), flag("longPress"), millis(),
        )
        "InputText" -> tb.inputText(must("text"), flag("hideKeyboardAfter"))
        "LaunchApp" ->
            tb.launchApp(text("packageId"), launchMode = text("launchMode")?.let { LaunchMode.valueOf(it.uppercase()) })
        "ClearAppData" -> tb.clearAppData(must("packageId"))
        "IsVisible" -> tb.isVisible(text("text"), text("id"), millis())
        "HasText" -> tb.hasText(must("text"))
        "GetElementText" -> tb.getElementText(must("id"))
        "GetElementCount" -> tb.getElementCount(text("text"), text("id"))
        "CaptureScreen" -> tb.captureScreen(flag("picture"))
        "AssertVisible" -> tb.assertVisible(text("text"), text("id"), millis(), expectedText = text("expectedText"))
        "WaitUntilVisible" -> tb.waitUntilVisible(must("text"), checkNotNull(millis()))
        "AdbShell" -> maestro().adbShell(must("command"))
        "GrantPermission" -> maestro().grantPermission(must("packageId"), must("permission"))
        "PressBack" -> maestro().pressBack()
        "PressHome" -> maestro().pressHome()
        "Swipe" -> maestro().swipe(direction(), swipeOnElementText = text("swipeOnElementText"), timeoutMs = millis())
        "Scroll" -> maestro().scroll(direction(), int("amount"))
        "Pinch" -> maestro().pinch((params["scale"] as Number).toDouble())
        "Navigate" -> playwright().navigate(must("url"))
        "Click" -> playwright().click(must("selector"), millis())
        "Fill" -> playwright().fill(must("selector"), must("value"))
        "WaitForSelector" -> playwright().waitForSelector(must("selector"), millis())
        "EvaluateJs" -> playwright().evaluateJs(must("script"))
        "Windows" -> desktop().windows()
        "ActivateWindow" -> desktop().activateWindow(must("id"))
        "Menu" -> desktop().menu((params.getValue("path") as List<*>).map { it.toString() })
        "PressKeys" -> desktop().pressKeys(must("keys"))
        "GetClipboard" -> desktop().getClipboard()
        "SetClipboard" -> desktop().setClipboard(must("text"))
        "Close" -> desktop().close(must("id"))
        "Remember" -> tb.remember(must("variable"), must("value"))
        "Forget" -> tb.forget(must("variable"))
        "DumpMemory" -> tb.dumpMemory()
        "CallTool" -> {
            val args = (params["args"] as Map<*, *>?).orEmpty().entries.associate { (name, value) -> name.toString() to value }
            tb.callTool(must("name"), args)
        }
        else -> error("the cases of tests/parity have a method that this test does not know: $method")
    }
}
