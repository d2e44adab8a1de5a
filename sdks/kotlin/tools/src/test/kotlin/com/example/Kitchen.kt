package com.example

import dev.trailblaze.ActionFailed
import dev.trailblaze.ApiError
import dev.trailblaze.AssertionFailed
import dev.trailblaze.Code
import dev.trailblaze.tools.Delegate
import dev.trailblaze.tools.LLMDescription
import dev.trailblaze.tools.LogLevel
import dev.trailblaze.tools.Tool
import dev.trailblaze.tools.ToolResult
import dev.trailblaze.tools.ToolServer
import dev.trailblaze.tools.TrailblazeContext
import dev.trailblaze.tools.TrailblazeToolSet
import io.modelcontextprotocol.kotlin.sdk.types.ImageContent
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.DelicateCoroutinesApi
import kotlinx.coroutines.GlobalScope
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.flow.filter
import kotlinx.coroutines.flow.take
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.launch
import kotlinx.serialization.SerialName
import kotlinx.serialization.Serializable
import kotlinx.serialization.json.JsonPrimitive
import kotlinx.serialization.json.add
import kotlinx.serialization.json.buildJsonObject
import kotlinx.serialization.json.putJsonArray
import java.io.File
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.CountDownLatch
import kotlin.concurrent.thread

enum class Size { SMALL, LARGE }

@Serializable
data class Topping(
    @LLMDescription("What it is called") val name: String,
    @SerialName("grams") val weight: Int = 10,
)

@Serializable
data class Order(val dish: String, val toppings: List<Topping>, val notes: String?)

/** Tools with all kinds of parameters, results and failures. */
class Kitchen : TrailblazeToolSet {
    private val latches = ConcurrentHashMap<String, CountDownLatch>()

    @Tool(customName = "kitchen_bake")
    @LLMDescription("Bake something")
    suspend fun bake(
        @LLMDescription("What to bake") dish: String,
        size: Size,
        toppings: List<Topping> = emptyList(),
        minutes: Int = 20,
        isVegan: Boolean = false,
        temperature: Double? = null,
        labels: Map<String, String> = emptyMap(),
    ): String = "$dish $size ${toppings.joinToString { "${it.weight} ${it.name}" }} $minutes $isVegan $temperature $labels"

    @Tool(customName = "kitchen_order")
    fun order(order: Order, ctx: TrailblazeContext): Order = order.copy(notes = order.notes ?: ctx.device.id)

    @Tool(customName = "kitchen_nothing")
    fun nothing() = Unit

    @Tool(customName = "kitchen_count")
    fun count(): List<Int> = listOf(1, 2)

    @Tool(customName = "kitchen_fail")
    suspend fun fail(kind: String): String = when (kind) {
        "message" -> error("the oven is cold")
        "number" -> "three".toInt().toString()
        "inline" -> listOf("oven").first { it == "fridge" }
        "silent" -> throw UnsupportedOperationException()
        "action" -> throw ActionFailed("nothing to tap", "ExceptionThrown")
        "fatal" -> throw ActionFailed("the account is locked", "FatalError")
        "assertion" -> throw AssertionFailed("the balance is 3")
        "check" -> throw AssertionError("2 is not 3")
        "unsupported" -> throw ApiError(Code.UNIMPLEMENTED, "the device has no back button")
        "expired" -> throw ApiError(Code.NOT_FOUND, "unknown invocation")
        "stack" -> deep(0).toString()
        else -> helper()
    }

    private fun deep(depth: Int): Int = deep(depth + 1) + 1

    private suspend fun helper(): String = TrailblazeContext.current().client.tap(text = "what is not there").message

    @Tool(customName = "kitchen_remember")
    fun remember(ctx: TrailblazeContext, isFailing: Boolean = false): ToolResult {
        ctx.memory["cake"] = mapOf("size" to 2)
        ctx.memory.remove("bread")
        ctx.memory["tea"] = ctx.memory.text("tea") + "!"
        return if (isFailing) ToolResult.failure("burnt") else ToolResult.success("${ctx.memory.keys}").remember("pie", 3.5)
    }

    @Tool(customName = "kitchen_delegate")
    fun delegate(text: String): ToolResult = ToolResult.delegates(Delegate("tap", "text" to text))

    @Tool(customName = "kitchen_device")
    suspend fun device(ctx: TrailblazeContext): String = listOf(ctx, TrailblazeContext.current()).joinToString { it.device.id }

    @Tool(customName = "kitchen_print")
    fun print(ctx: TrailblazeContext): String {
        println("printed to stdout")
        ctx.log("a warning", LogLevel.WARNING)
        ctx.progress("half")
        ctx.progress("done")
        return "quiet"
    }

    @Tool(customName = "kitchen_picture")
    fun picture(): ToolResult = ToolResult.success("a cake").attach(ImageContent("iVBORw0KGgo=", "image/png"))

    /** Keeps its context for `kitchen_late`, which is wrong. */
    @Tool(customName = "kitchen_keep")
    fun keep(ctx: TrailblazeContext) {
        kept = ctx
    }

    @Tool(customName = "kitchen_late")
    suspend fun late(): Boolean = kept!!.client.isVisible(text = "Submit")

    @Tool(customName = "kitchen_lateMemory")
    fun lateMemory() {
        kept!!.memory["late"] = true
    }

    @Tool(customName = "kitchen_lateLog")
    fun lateLog() {
        kept!!.log("too late")
    }

    /** Leaves a thread that fails, and ends after it. */
    @Tool(customName = "kitchen_leave")
    fun leave() {
        thread { error("the oven is cold") }.join()
    }

    /** Leaves a thread that fails when a file exists. */
    @Tool(customName = "kitchen_leaveUntil")
    fun leaveUntil(file: String) {
        thread(isDaemon = true) {
            while (!File(file).exists()) Thread.sleep(5)
            error("the oven burns late")
        }
    }

    /** Never ends, and ignores that it is cancelled. */
    @Tool(customName = "kitchen_loop")
    fun loop(ctx: TrailblazeContext) {
        ctx.progress("looping")
        while (true) Thread.onSpinWait()
    }

    @Tool(customName = "kitchen_reserved")
    fun reserved(ctx: TrailblazeContext) {
        ctx.memory["target.appId"] = "com.example"
    }

    @Tool(customName = "kitchen_weigh")
    fun weigh(): Map<String, Double> = mapOf("grams" to Double.NaN)

    @Tool(customName = "kitchen_weighAll")
    fun weighAll(): ToolResult = ToolResult.success("weighed", buildJsonObject { putJsonArray("grams") { add(Double.NaN) } })

    @Tool(customName = "kitchen_rememberWeight")
    fun rememberWeight(ctx: TrailblazeContext) {
        ctx.memory["grams"] = JsonPrimitive(Double.NaN)
    }

    /** Never asks what a coroutine of its own threw. */
    @OptIn(DelicateCoroutinesApi::class)
    @Tool(customName = "kitchen_async")
    suspend fun leaveAsync(ctx: TrailblazeContext): String {
        GlobalScope.async { ctx.client.tap(text = "Bake") }.join()
        return "baked"
    }

    private var kept: TrailblazeContext? = null

    @Tool(customName = "kitchen_ask")
    suspend fun ask(prompt: String, ctx: TrailblazeContext): String =
        "${ctx.canAskModel}: ${ctx.client.askModel(prompt, screen = true).text}"

    @Tool(customName = "kitchen_check")
    suspend fun check(ctx: TrailblazeContext) = ctx.client.assertVisible(text = "Nowhere", timeoutMs = 0)

    /** Reports progress, and returns when Trailblaze has recorded it. */
    @Tool(customName = "kitchen_watch")
    suspend fun watch(ctx: TrailblazeContext): String {
        ctx.log("a warning", LogLevel.WARNING)
        ctx.progress("half")
        val noted = ctx.client.watchEvents().filter { "noted" in "$it" && Regex("a warning|half").containsMatchIn("$it") }.take(2).toList()
        return "${noted.size} recorded"
    }

    /** Calls another tool of its server, by name. */
    @Tool(customName = "kitchen_nested")
    suspend fun nested(ctx: TrailblazeContext): String = ctx.client.callTool("kitchen_device", emptyMap()).message

    /** Blocks its thread, without suspending, until `kitchen_release` is called. */
    @Tool(customName = "kitchen_block")
    suspend fun block(name: String): String {
        latch(name).await()
        return "released"
    }

    @Tool(customName = "kitchen_release")
    fun release(name: String) = latch(name).countDown()

    /** Starts something and does not wait for it, as far as the language knows. */
    @OptIn(DelicateCoroutinesApi::class)
    @Tool(customName = "kitchen_launch")
    suspend fun launched(isThread: Boolean): String {
        val burn: () -> Unit = { error("the oven burns") }
        if (isThread) thread { burn() }.join() else GlobalScope.launch { burn() }.join()
        return "cooked"
    }

    /** Waits until its call is cancelled. */
    @Tool(customName = "kitchen_wait")
    suspend fun wait(ctx: TrailblazeContext): String {
        ctx.progress("waiting")
        try {
            awaitCancellation()
        } finally {
            cancelled.complete(Unit)
        }
    }

    /** Waits until `kitchen_wait` was cancelled. */
    @Tool(customName = "kitchen_cancelled")
    suspend fun cancelled(): String {
        cancelled.await()
        return "it was cancelled"
    }

    private val cancelled = CompletableDeferred<Unit>()

    private fun latch(name: String) = latches.computeIfAbsent(name) { CountDownLatch(1) }
}

fun main(args: Array<String>) = ToolServer("kitchen", "1.2.0", "Cook something.").toolSet(Kitchen()).run(args)
