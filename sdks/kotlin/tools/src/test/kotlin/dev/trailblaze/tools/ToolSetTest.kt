package dev.trailblaze.tools

import com.example.Kitchen
import dev.trailblaze.TrailblazeDevicePlatform
import dev.trailblaze.testing.FakeDevice
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitAll
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.serialization.ExperimentalSerializationApi
import kotlinx.serialization.SerialName
import kotlinx.serialization.Serializable
import kotlinx.serialization.json.JsonIgnoreUnknownKeys
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonPrimitive
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import java.util.concurrent.CountDownLatch
import kotlin.time.Duration.Companion.milliseconds

class ToolSetTest {
    private val server = ToolServer("kitchen").toolSet(Kitchen())

    private fun call(name: String, args: Map<String, Any?> = emptyMap(), context: TrailblazeContext = TrailblazeContext.inProcess(FakeDevice())) =
        runBlocking { server.call("kitchen_$name", args, context) }

    private fun schemaOf(name: String) = server.tools.first { it.name == "kitchen_$name" }.arguments.schema.toString()

    /** The text without the line of the author's code, which must be there. */
    private fun ToolResult.withoutLine(): String {
        assertTrue(Regex("[\\s\\S]* \\(Kitchen\\.kt:\\d+\\)").matches(text), text)
        return text.substringBeforeLast(" (")
    }

    @Test
    fun `types and defaults become a schema`() {
        val topping = """{"type":"object","properties":{"name":{"type":"string","description":"What it is called"},"grams":{"type":"integer"}},"required":["name"],"additionalProperties":false}"""
        assertEquals(
            """{"properties":{"dish":{"type":"string","description":"What to bake"},"size":{"type":"string","enum":["SMALL","LARGE"]},""" +
                """"toppings":{"type":"array","items":$topping},"minutes":{"type":"integer"},"isVegan":{"type":"boolean"},""" +
                """"temperature":{"type":"number"},"labels":{"type":"object","additionalProperties":{"type":"string"}}},"required":["dish","size"],"additionalProperties":false}""",
            schemaOf("bake"),
        )
        assertEquals(
            """{"properties":{"order":{"type":"object","properties":{"dish":{"type":"string"},"toppings":{"type":"array","items":$topping},""" +
                """"notes":{"type":"string"}},"required":["dish","toppings"],"additionalProperties":false}},"required":["order"],"additionalProperties":false}""",
            schemaOf("order"),
        )
        assertEquals("""{"properties":{},"additionalProperties":false}""", schemaOf("nothing"))
    }

    @Test
    fun `arguments are decoded and defaults are kept`() {
        assertEquals("cake SMALL  20 false null {}", call("bake", mapOf("dish" to "cake", "size" to "SMALL")).text)
        val all = mapOf(
            "dish" to "pie", "size" to "LARGE", "toppings" to listOf(mapOf("name" to "cream", "grams" to 5), mapOf("name" to "nuts")),
            "minutes" to 5, "isVegan" to true, "temperature" to 180, "labels" to mapOf("a" to "b"), "_trailblazeContext" to emptyMap<String, Any>(),
        )
        assertEquals("pie LARGE 5 cream, 10 nuts 5 true 180.0 {a=b}", call("bake", all).text)
        val order = call("order", mapOf("order" to mapOf("dish" to "soup", "toppings" to emptyList<Any>())))
        assertEquals("""{"dish":"soup","toppings":[],"notes":"android/fake-1"}""", order.structured.toString())
        assertEquals("", call("nothing").text)
        assertEquals("[1,2]", call("count").text)
    }

    @Test
    fun `null for a required parameter is refused with the line of the tool`() {
        val result = call("bake", mapOf("dish" to null, "size" to "SMALL"))
        assertEquals("invalid arguments for `kitchen_bake`: `dish` must be a string, got null", result.withoutLine())
        assertEquals("ExceptionThrown", result.variant)
    }

    @Test
    fun `missing arguments are named`() {
        val result = call("bake", mapOf("minutes" to 3))
        assertEquals("invalid arguments for `kitchen_bake`: `dish` is missing; `size` is missing", result.withoutLine())
        assertEquals("MissingRequiredArgs" to listOf("dish", "size"), result.variant to result.missing)
        val inner = call("order", mapOf("order" to mapOf("toppings" to listOf(emptyMap<String, Any>()))))
        assertEquals("invalid arguments for `kitchen_order`: `order.dish` is missing; `order.toppings[0].name` is missing", inner.withoutLine())
    }

    @Test
    fun `unknown arguments are refused at every level except in maps`() {
        fun refusal(name: String, args: Map<String, Any?>) = call(name, args).withoutLine().substringAfter("`: ")
        assertEquals(
            "unknown argument `minuts`; did you mean `minutes`?; unknown argument `oven`; expected one of `dish`, `size`, `toppings`, `minutes`, " +
                "`isVegan`, `temperature`, `labels`",
            refusal("bake", mapOf("dish" to "pie", "size" to "SMALL", "minuts" to 5, "oven" to "gas")),
        )
        val topping = mapOf("name" to "nuts", "gram" to 5)
        assertEquals("unknown argument `toppings[0].gram`; did you mean `grams`?", refusal("bake", mapOf("dish" to "pie", "size" to "SMALL", "toppings" to listOf(topping))))
        assertEquals(
            "`order.dish` is missing; unknown argument `order.dsh`; did you mean `dish`?",
            refusal("order", mapOf("order" to mapOf("dsh" to "soup", "toppings" to emptyList<Any>()))),
        )
        assertEquals("unknown argument `what`; none are accepted", refusal("nothing", mapOf("what" to 1)))
        assertEquals("pie SMALL  20 false null {anything=goes}", call("bake", mapOf("dish" to "pie", "size" to "SMALL", "labels" to mapOf("anything" to "goes"))).text)
    }

    @Test
    fun `arguments may be a map of one type`() = runBlocking {
        class Prices : TypedTrailblazeTool<Map<String, Int>> {
            override suspend fun execute(args: Map<String, Int>) = ToolResult.success("${args.values.sum()} for ${args.keys}")
        }
        val prices = ToolServer("x").tool("prices", "Add prices") { _ -> Prices() }
        assertEquals("7 for [tea, cake]", prices.call("prices", mapOf("tea" to 3, "cake" to 4), FakeDevice()).text)
        assertEquals("invalid arguments for `prices`: `tea` must be an integer, got \"much\"", prices.call("prices", mapOf("tea" to "much"), FakeDevice()).text)
    }

    @Test
    fun `the cases of a sealed class refuse unknown arguments and a class may accept them`() {
        val server = ToolServer("x").toolSet(Shapes())
        fun draw(vararg fields: Pair<String, Any?>) = runBlocking { server.call("draw", mapOf("shape" to mapOf(*fields)), FakeDevice()) }
        assertEquals("Circle(radius=3)", draw("type" to "circle", "radius" to 3).text)
        assertTrue(draw("type" to "circle", "radius" to 3, "color" to "red").text.contains("unknown argument `shape.color`; expected one of `radius`"))
        assertEquals("Open(name=a)", draw("type" to "open", "name" to "a", "color" to "red").text)
        val schema = server.tools.single().arguments.schema.toString()
        assertTrue(schema.contains(""""radius":{"type":"integer"}},"required":["type","radius"],"additionalProperties":false}"""), schema)
        assertTrue(schema.contains(""""name":{"type":"string"}},"required":["type","name"]}"""), schema)
    }

    @Test
    fun `everything that is wrong is said at once`() {
        val result = call("bake", mapOf("dish" to 5, "size" to "HUGE", "toppings" to "all", "minutes" to 1.5, "isVegan" to "yes", "labels" to listOf(1)))
        val expected = "invalid arguments for `kitchen_bake`: `dish` must be a string, got 5; `size` must be one of `SMALL`, `LARGE`, got \"HUGE\"; " +
            "`toppings` must be a list, got \"all\"; `minutes` must be an integer, got 1.5; `isVegan` must be a boolean, got \"yes\"; " +
            "`labels` must be an object, got [1]"
        assertEquals(expected, result.withoutLine())
        val large = call("bake", mapOf("dish" to "pie", "size" to "SMALL", "minutes" to 3_000_000_000))
        assertEquals("invalid arguments for `kitchen_bake`: `minutes` must be an integer from -2147483648 to 2147483647, got 3000000000", large.withoutLine())
    }

    @Test
    fun `an exception fails the call with the line that threw it`() {
        fun failed(kind: String) = call("fail", mapOf("kind" to kind)).let { it.variant to it.withoutLine() }
        assertEquals("ExceptionThrown" to "the oven is cold", failed("message"))
        assertEquals("ExceptionThrown" to "NumberFormatException: For input string: \"three\"", failed("number"))
        assertEquals("ExceptionThrown" to "UnsupportedOperationException", failed("silent"))
        assertEquals("ExceptionThrown" to "nothing to tap", failed("action"))
        assertEquals("FatalError" to "the account is locked", failed("fatal"))
        assertEquals("AssertionFailed" to "the balance is 3", failed("assertion"))
        assertEquals("AssertionFailed" to "2 is not 3", failed("check"))
        assertEquals("Unsupported" to "the device has no back button (unimplemented)", failed("unsupported"))
        assertEquals("ExceptionThrown" to "StackOverflowError", failed("stack"))
        val (variant, text) = failed("helper")
        assertEquals("ExceptionThrown" to "no element with text `what is not there` is visible; the fake device shows nothing", variant to text)
        val line = call("fail", mapOf("kind" to "helper")).text.substringAfterLast(':').removeSuffix(")").toInt()
        assertTrue(source("com/example/Kitchen.kt").lines()[line - 1].contains("what is not there"), "line $line")
    }

    @Test
    fun `memory is changed by what succeeds`() {
        fun context() = TrailblazeContext.inProcess(FakeDevice(), memory = mapOf("bread" to 1, "tea" to "green"))
        val result = call("remember", context = context())
        assertEquals("[tea, cake]", result.text)
        assertEquals(setOf("bread"), result.forgotten)
        assertEquals("""{"cake":{"size":2},"tea":"green!","pie":3.5}""", JsonObject(result.remembered).toString())
        assertEquals(
            """{"trailblaze":{"variant":"Success","memoryDelta":{"cake":{"size":2},"tea":"green!","pie":3.5},"memoryDeletions":["bread"]}}""",
            result.meta().toString(),
        )
        assertEquals("""{"trailblaze":{"variant":"ExceptionThrown"}}""", call("remember", mapOf("isFailing" to true), context()).meta().toString())
    }

    @Test
    fun `a fake device and the tools that are called on it have one memory`() {
        val device = FakeDevice()
        device.memory["bread"] = 1
        runBlocking { device.remember("tea", "green") }
        assertEquals("[tea, cake]", runBlocking { server.call("kitchen_remember", emptyMap(), device) }.text)
        val after = mapOf("tea" to "green!", "cake" to mapOf("size" to 2), "pie" to 3.5)
        assertEquals(after, device.memory)
        assertEquals(after, runBlocking { device.dumpMemory() })
        device.memory["tea"] = "black"
        assertEquals(true, runBlocking { server.call("kitchen_remember", mapOf("isFailing" to true), device) }.isError)
        assertEquals("black", device.memory["tea"])
        assertEquals(listOf("remember", "dumpMemory"), device.calls.map { it.tool })
    }

    @Test
    fun `a context cannot be used when its call has ended`() {
        val device = FakeDevice()
        val context = TrailblazeContext.inProcess(device, memory = mapOf("tea" to "green"))
        call("keep", context = context)
        val uses = mapOf<String, () -> Unit>(
            "memory.set" to { context.memory["tea"] = "black" },
            "memory.remove" to { context.memory.remove("tea") },
            "log" to { context.log("too late") },
            "progress" to { context.progress("too late") },
            "tap" to { runBlocking { context.client.tap(text = "Pay") } },
            "captureScreen" to { runBlocking { context.client.captureScreen() } },
            "adbShell" to { runBlocking { context.client.maestro?.adbShell("id") } },
            "acme_pay" to { runBlocking { context.client.callTool("acme_pay", emptyMap()) } },
            "watchEvents" to { runBlocking { context.client.watchEvents().collect {} } },
        )
        for ((name, use) in uses) {
            val problem = assertThrows(dev.trailblaze.ApiError::class.java) { use() }
            val words = "`kitchen_keep` called `$name` after it had ended, so nothing was done"
            assertEquals("$words; wait for everything that the tool starts before it returns", problem.reason)
        }
        assertEquals("green", context.memory["tea"])
        assertEquals(emptyList<String>(), device.calls.map { it.tool })
        runBlocking { device.inputText("by the test itself") }
        assertEquals(listOf("by the test itself"), device.typed)
        val late = call("lateMemory")
        assertEquals("ExceptionThrown" to true, late.variant to late.text.contains("after it had ended, so nothing was done"))
    }

    @Test
    fun `an exception that nothing catches fails the call`() {
        val failed = call("leave")
        assertTrue(failed.isError && "the oven is cold" in failed.text, failed.text)
    }

    @Test
    fun `a call is refused when all others are stuck and waits when they are not`() = runBlocking(Dispatchers.Default) {
        val calls = RunningCalls(limit = 2, patience = 200.milliseconds)
        val release = CompletableDeferred<Unit>()
        val stuck = listOf("one", "two").map { name ->
            async(start = CoroutineStart.UNDISPATCHED) {
                calls.run(name) {
                    release.await()
                    ToolResult.success(name)
                }
            }
        }
        val refused = calls.run("three") { error("must not run") }
        assertEquals(ToolResult.failure("2 calls are still running, the oldest is `one`, for 0 s"), refused)
        release.complete(Unit)
        assertEquals(listOf("one", "two"), stuck.awaitAll().map { it.text })
        val many = (1..50).map { async { calls.run("many") { ToolResult.success("${delay(5)}") } } }
        assertEquals(0, many.awaitAll().count { it.isError })
    }

    @Test
    fun `what fails when no call or several are in progress is told`() = runBlocking(Dispatchers.Default) {
        val calls = RunningCalls(limit = 2)
        val told = mutableListOf<Pair<String, Boolean>>()
        calls.run("bake", { text, isItsOwn -> told += text to isItsOwn }) { ToolResult.success() }
        calls.uncaught(IllegalStateException("it burns"))
        val late = told.removeLast()
        val words = "something failed after `bake` had ended, which had started it: it burns"
        assertTrue(late.first.startsWith(words) && late.second, "$late")
        calls.run("one", { text, isItsOwn -> told += text to isItsOwn }) {
            calls.run("two") {
                calls.uncaught(IllegalStateException("it burns"))
                ToolResult.success()
            }
        }
        val unknown = told.removeLast()
        assertTrue(unknown.first.startsWith("something failed that `one`, `two` or an earlier tool had started: it burns") && !unknown.second, "$unknown")
    }

    @Test
    fun `delegates are what Trailblaze expects`() {
        val result = call("delegate", mapOf("text" to "Pay"))
        assertEquals("delegated to `tap`", result.text)
        assertEquals("""{"_trailblaze_delegates":[{"tool":"tap","args":{"text":"Pay"}}]}""", result.structured.toString())
        assertEquals("a delegate needs the name of a `tool`", assertThrows(IllegalArgumentException::class.java) { Delegate("") }.message)
        assertEquals("missing required arguments: `a`, `b`", ToolResult.missingRequiredArgs(listOf("a", "b")).text)
    }

    @Test
    fun `calls at the same time keep their contexts apart`() = runBlocking(Dispatchers.Default) {
        val devices = (1..200).map { "android/sim-$it" }
        val answers = devices.map { id ->
            async { server.call("kitchen_device", emptyMap(), TrailblazeContext.inProcess(FakeDevice(), TrailblazeDevice(id = id))).text }
        }.awaitAll()
        assertEquals(devices.map { "$it, $it" }, answers)
    }

    @Test
    fun `a tool that blocks its thread is interrupted if it is cancelled`() = runBlocking(Dispatchers.Default) {
        val (started, ended) = CountDownLatch(1) to CountDownLatch(1)
        val blocking = object : TrailblazeToolSet {
            @Tool
            fun block() {
                started.countDown()
                try {
                    CountDownLatch(1).await()
                } catch (_: InterruptedException) {
                    ended.countDown()
                }
            }
        }
        val call = launch { ToolServer("x").toolSet(blocking).call("block", emptyMap(), FakeDevice()) }
        started.await()
        call.cancelAndJoin()
        ended.await()
    }

    @Test
    fun `outside of Trailblaze the context says what it lacks`() {
        val context = TrailblazeContext.of(null, Notices.None)
        assertEquals(false, context.isTrailblaze)
        val problem = assertThrows(dev.trailblaze.ApiError::class.java) { context.device }
        assertEquals("this tool needs Trailblaze for `device`, and another MCP client called it", problem.reason)
    }

    @Test
    fun `a newer Trailblaze may send more and other words`() {
        val meta = JsonObject(
            mapOf(
                "trailblaze" to JsonObject(
                    mapOf(
                        "device" to JsonObject(mapOf("id" to JsonPrimitive("car/1"), "platform" to JsonPrimitive("car"), "wheels" to JsonPrimitive(4))),
                        "memory" to JsonPrimitive("none"),
                        "capabilities" to JsonPrimitive(7),
                        "future" to JsonObject(emptyMap()),
                    ),
                ),
            ),
        )
        val context = TrailblazeContext.of(meta, Notices.None)
        assertEquals(TrailblazeDevice("car/1", TrailblazeDevicePlatform.UNKNOWN, 0, 0, ""), context.device)
        assertEquals(emptySet<String>() to false, context.memory.keys to context.canAskModel)
        val problem = assertThrows(dev.trailblaze.ApiError::class.java) { context.sessionId }
        assertEquals("`_meta.trailblaze` of the call has no `sessionId`", problem.reason)
    }

    @Test
    fun `tools that cannot be served are refused when the server is made`() {
        class Thing

        class Twice : TrailblazeToolSet {
            @Tool fun bake() = Unit

            @Tool(customName = "bake") fun cook() = Unit
        }

        class Named : TrailblazeToolSet {
            @Tool(customName = "a.b") fun bake() = Unit
        }

        class Takes : TrailblazeToolSet {
            @Tool fun bake(thing: Thing) = thing.hashCode()
        }

        class Returns : TrailblazeToolSet {
            @Tool fun bake() = Thing()
        }

        class Empty : TrailblazeToolSet

        class Mixed : TrailblazeToolSet {
            @Tool fun bake(tool: com.example.listings.LoginTool, more: String) = "$tool$more"
        }

        fun refusal(toolSet: ToolSet) = assertThrows(DefinitionError::class.java) { ToolServer("x").toolSet(toolSet) }.message.orEmpty()
            .replace(Regex("ToolSetTest\\.kt:\\d+"), "HERE")
        assertEquals("two tools are named `bake`; rename one (HERE and HERE)", refusal(Twice()))
        assertEquals("`a.b` is not a valid tool name: models accept up to 64 letters, digits, _ and - (HERE)", refusal(Named()))
        assertTrue(refusal(Takes()).startsWith("the parameter `thing` of the tool `bake` (HERE) has the type `"), refusal(Takes()))
        assertTrue(refusal(Returns()).matches(Regex("the tool `bake` \\(HERE\\) returns a .*, which is neither a ToolResult nor @Serializable")), refusal(Returns()))
        assertEquals("the toolset `Empty` has no function with the annotation @Tool", refusal(Empty()))
        assertTrue(refusal(Mixed()).startsWith("the tool `bake` (HERE) has several parameters, and one is a TrailblazeTool"), refusal(Mixed()))
    }

    @Test
    fun `a class may use its commands at once if it has no registry`() = runBlocking {
        class Eager(commands: dev.trailblaze.TrailblazeCommands) : ToolSet {
            private val platform = commands.platform

            @Tool
            fun where() = platform.word
        }
        assertEquals("ios", ToolServer("x").toolSet(::Eager).call("where", emptyMap(), FakeDevice(TrailblazeDevicePlatform.IOS)).text)
    }

    @Test
    fun `a registry of an interface of the author's own counts`() {
        val server = ToolServer("x").toolSet(OwnRegistry()).toolSet(::OwnRegistryOfCommands)
        assertEquals(listOf(false, false), server.registry.values.map { it.isRecordable })
        assertEquals(mapOf("auth" to GroupInfo("Signing in")), server.groups)
        server.checkRegistry()
    }

    @Test
    fun `a registry with metadata of another type is refused, and a map of something else is not a registry`() {
        val message = assertThrows(DefinitionError::class.java) { ToolServer("x").toolSet(OwnMetadata()) }.message.orEmpty()
        assertTrue("must be a Map<String, dev.trailblaze.tools.ToolMetadata>" in message, message)
        assertEquals(mapOf("sell" to ToolMetadata()), ToolServer("x").toolSet(Shop()).registry)
    }

    private interface HasOwnRegistry {
        val registry: Map<String, dev.trailblaze.tools.ToolMetadata>
    }

    private class OwnRegistry : TrailblazeToolSet, HasOwnRegistry {
        override val registry = mapOf("first" to ToolMetadata(isRecordable = false))
        val groups = mapOf("auth" to GroupInfo("Signing in"))

        @Tool fun first() = Unit
    }

    private class OwnRegistryOfCommands(commands: dev.trailblaze.TrailblazeCommands) : ToolSet, HasOwnRegistry {
        override val registry = mapOf("second" to ToolMetadata(isRecordable = false))
        private val where = commands

        @Tool fun second() = where.platform.word
    }

    private class OwnMetadata : TrailblazeToolSet {
        class ToolMetadata(val isRecordable: Boolean)

        val registry = mapOf("tool" to ToolMetadata(isRecordable = false))

        @Tool fun tool() = Unit
    }

    private class Shop : TrailblazeToolSet {
        val registry = mapOf("till" to 7)
        val groups = mapOf("staff" to 3)

        @Tool fun sell() = Unit
    }

    @TrailblazeToolClass(
        name = "phonesOnly",
        platforms = [TrailblazeDevicePlatform.ANDROID, TrailblazeDevicePlatform.IOS],
        requiresHost = true,
    )
    private class PhonesOnly : ExecutableTrailblazeTool {
        override suspend fun execute(ctx: TrailblazeToolExecutionContext): TrailblazeToolResult = TrailblazeToolResult.Success
    }

    @Test
    fun `a tool class says which platforms it is for and whether it needs a host`() {
        val phones = setOf(TrailblazeDevicePlatform.ANDROID, TrailblazeDevicePlatform.IOS)
        val expected = mapOf("phonesOnly" to ToolMetadata(platforms = phones, requiresHost = true))
        assertEquals(expected, ToolServer("x").toolClasses(PhonesOnly::class).registry)
    }

    @Test
    fun `two toolsets that describe a tool differently are refused`() {
        class Described(platform: TrailblazeDevicePlatform, own: String) : TrailblazeToolSet, HasRegistry {
            override val registry = mapOf("shared" to ToolMetadata(setOf(platform)), own to ToolMetadata())
        }
        // Only registries: the tools are elsewhere.
        val server = ToolServer("x")
        val one = object : TrailblazeToolSet, HasRegistry by Described(TrailblazeDevicePlatform.IOS, "a") {
            @Tool fun a() = Unit
        }
        val other = object : TrailblazeToolSet, HasRegistry by Described(TrailblazeDevicePlatform.WEB, "b") {
            @Tool fun b() = Unit
        }
        val message = assertThrows(DefinitionError::class.java) { server.toolSet(one).toolSet(other) }.message.orEmpty()
        assertTrue(message.startsWith("the tool `shared` is described twice: as ToolMetadata("), message)
    }

    @Test
    fun `metadata of a tool that does not exist is refused at the start`() {
        class Described(name: String) : TrailblazeToolSet, HasRegistry {
            override val registry = mapOf("bake" to ToolMetadata(), name to ToolMetadata(isRecordable = false))

            @Tool fun bake() = Unit

            @Tool fun roast() = Unit
        }
        fun refusal(name: String) = assertThrows(DefinitionError::class.java) { ToolServer("x").toolSet(Described(name)).checkRegistry() }.message
        assertEquals("the registry has metadata of an unknown tool `rost`; did you mean `roast`?", refusal("rost"))
        assertEquals("the registry has metadata of an unknown tool `grill`; expected one of `bake`, `roast`", refusal("grill"))
        ToolServer("x").toolSet(Described("roast")).checkRegistry()
    }

    @Test
    fun `metadata becomes flags`() {
        val metadata = ToolMetadata(
            platforms = setOf(TrailblazeDevicePlatform.IOS), groups = setOf("auth"), exposedToLlm = false, isRecordable = false,
            isDelegating = true, requiresHost = true, drivers = setOf("ios-host"), toolset = "checkout",
        )
        assertEquals(
            """{"trailblaze/isForLlm":false,"trailblaze/isRecordable":false,"trailblaze/isDelegating":true,"trailblaze/requiresHost":true,""" +
                """"trailblaze/supportedDrivers":["ios-host"],"trailblaze/supportedPlatforms":["ios"],"trailblaze/toolset":"checkout",""" +
                """"trailblaze/groups":["auth"]}""",
            metadata.toMeta().toString(),
        )
        assertEquals(null, ToolMetadata().toMeta())
    }

    @Test
    fun `arguments of the program select the transport`() {
        fun port(vararg args: String) = ServerArguments.of(args.toList()).port
        assertEquals(listOf(null, null, 8080, 0), listOf(port(), port("--transport", "stdio"), port("x", "--transport", "http", "--port", "8080"), port("--transport=http", "--port=0")))
        fun refusal(vararg args: String) = assertThrows(IllegalArgumentException::class.java) { port(*args) }.message
        assertEquals("`--transport` must be stdio or http, got `tcp`", refusal("--transport", "tcp"))
        assertEquals("`--transport http` needs a `--port` from 0 to 65535, got `none`", refusal("--transport", "http"))
        assertEquals("`--transport http` needs a `--port` from 0 to 65535, got `70000`", refusal("--transport", "http", "--port", "70000"))
    }
}

@Serializable
sealed interface Shape {
    @Serializable
    @SerialName("circle")
    data class Circle(val radius: Int) : Shape

    @OptIn(ExperimentalSerializationApi::class)
    @Serializable
    @SerialName("open")
    @JsonIgnoreUnknownKeys
    data class Open(val name: String) : Shape
}

class Shapes : TrailblazeToolSet {
    @Tool
    fun draw(shape: Shape): String = shape.toString()
}
