package dev.trailblaze.tools

import com.example.listings.AcmeDriverLoginTool
import com.example.listings.AcmeToolSet
import com.example.listings.CommandsListing
import com.example.listings.MyAppToolSet
import com.example.listings.ReloadToolSet
import com.example.listings.SimpleToolSet
import com.example.listings.TrailblazeMcpServer
import com.example.listings.central.MyAppToolRegistry
import com.example.listings.composition.LaunchTool
import com.example.listings.composition.MyAppFullCheckoutFlow
import com.example.listings.composition.MyAppLoginTool
import com.example.listings.crossPlatform
import com.example.listings.ofMyApp
import com.example.listings.router.Resource
import com.example.listings.router.ToolInfo
import com.example.listings.router.TrailblazeToolRouter
import com.example.listings.types.InputTextTrailblazeTool
import com.example.listings.types.TapOnElementByNodeIdTrailblazeTool
import com.example.listings.types.TapOnElementWithTextTrailblazeTool
import com.example.listings.types.TapOnLoginTrailblazeTool
import dev.trailblaze.TrailblazeDevicePlatform
import dev.trailblaze.testing.FakeDevice
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** The listings of the design that this library follows, on a fake device. They are in `com.example.listings`. */
class ListingsTest {
    private val login = mapOf("email" to "ada@example.com", "password" to "secret")
    private val signIn = listOf("clearAppData", "launchApp", "tap", "inputText", "inputText", "tap")

    private fun device(platform: TrailblazeDevicePlatform = TrailblazeDevicePlatform.ANDROID) =
        FakeDevice(platform).apply { show("Sign in", "Submit", "Go Online", "Shop", "Coffee", "Checkout", "Payment Complete") }

    private val FakeDevice.made get() = calls.map { it.tool }

    @Test
    fun `the commands have the functions of the interfaces`() = runTest {
        for (platform in listOf(TrailblazeDevicePlatform.ANDROID, TrailblazeDevicePlatform.WEB)) {
            val device = device(platform)
            device.on("tap") { null }
            val listing = CommandsListing(device)
            assertEquals(listOf(true, true, null, 1, platform.word), listing.queries())
            assertEquals(2, listing.assertions().size)
            val isPhone = platform == TrailblazeDevicePlatform.ANDROID
            assertEquals(listOf(platform, isPhone, !isPhone, false), listing.backends())
        }
        val device = FakeDevice().apply { show(listOf(dev.trailblaze.messages.Element(text = "Sign in", id = "sign_in"))) }
        assertEquals(7, CommandsListing(device).actions().size)
    }

    @Test
    fun `a tool class gets its arguments as a map`() = runTest {
        val device = device()
        val server = ToolServer("acme").tool("acme_driver_login", "Log in to Acme Driver", make = ::AcmeDriverLoginTool)
        assertEquals(ToolResult.success(), server.call("acme_driver_login", login, device))
        assertEquals(signIn + "waitUntilVisible", device.made)
        assertEquals(listOf("ada@example.com", "secret"), device.typed)
    }

    @Test
    fun `a registry is a map that can be filtered by name`() {
        assertEquals(setOf("myapp_login", "myapp_checkout"), ofMyApp.keys)
        assertEquals(setOf("auth"), crossPlatform.getValue("acme_login").groups)
        assertEquals(3, TrailblazeMcpServer().inProcessTools.size)
    }

    @Test
    fun `a central registry describes tools and groups`() {
        val central = object : TrailblazeToolSet, HasRegistry {
            override val registry = MyAppToolRegistry.tools
            override val groups = MyAppToolRegistry.groups

            @Tool(customName = "myapp_checkout")
            fun checkout() = "done"
        }
        val server = ToolServer("trailblaze-myapp-tools", "1.2.0").toolSet(central)
        val json = registryJson(server.registry, server.groups, server.name, server.version).toString()
        val expected = """{"tools":{"myapp_checkout":{"platforms":["android","ios","desktop","web"],"groups":["checkout","payments"],""" +
            """"exposedToLlm":true,"isRecordable":true,"isDelegating":false}},"groups":{"auth":{"description":"Authentication tools",""" +
            """"defaultEnabled":true},"checkout":{"description":"Checkout flow","defaultEnabled":false}},""" +
            """"serverInfo":{"name":"trailblaze-myapp-tools","version":"1.2.0"}}"""
        assertEquals(expected, json)
    }

    @Test
    fun `a router reads the registry of a server`() = runTest {
        val server = ToolServer("myapp").toolSet(::MyAppToolSet)
        val router = TrailblazeToolRouter()
        router.loadFromMcpServer("myapp") { uri ->
            assertEquals("trailblaze://registry", uri)
            Resource(registryJson(server.registry, server.groups, server.name, server.version).toString())
        }
        assertEquals(listOf(ToolInfo("myapp_checkout")), router.filterTools(TrailblazeDevicePlatform.WEB, emptySet()))
        assertEquals(listOf(ToolInfo("myapp_login")), router.filterTools(TrailblazeDevicePlatform.IOS, setOf("auth")))
    }

    @Test
    fun `an executable tool is called with the parameters of its constructor`() = runTest {
        val device = device()
        val server = ToolServer("myapp").toolClasses(InputTextTrailblazeTool::class, com.example.listings.types.MyAppLoginTool::class)
        assertEquals(ToolResult.success(), server.call("myapp_inputText", mapOf("text" to "hello"), device))
        assertEquals(ToolResult.success(), server.call("myapp_login", login, device))
        assertEquals(listOf("hello", "ada@example.com", "secret"), device.typed)
    }

    @Test
    fun `a delegating tool returns calls with stable arguments`() = runTest {
        val device = FakeDevice().apply { show("Welcome", "Login") }
        val server = ToolServer("core").toolClasses(
            TapOnElementByNodeIdTrailblazeTool::class,
            TapOnElementWithTextTrailblazeTool::class,
            TapOnLoginTrailblazeTool::class,
        )
        val result = server.call("tapOnElementByNodeId", mapOf("nodeId" to 2, "reason" to "Login button"), device)
        assertEquals(listOf(Delegate("tapOnElementWithText", "text" to "Login")), result.delegates)
        assertEquals(result, server.call("tapOnLogin", emptyMap(), device))
        assertEquals(listOf("captureScreen", "captureScreen"), device.made)
        assertEquals(ToolMetadata(isRecordable = false, isDelegating = true), server.registry["tapOnElementByNodeId"])
    }

    @Test
    fun `a tool calls another one directly`() = runTest {
        val device = device()
        val server = ToolServer("myapp").tool("myapp_buy", "Buy an item") { MyAppFullCheckoutFlow(it, MyAppLoginTool(it)) }
        assertEquals(ToolResult.success(), server.call("myapp_buy", login + ("itemName" to "Coffee"), device))
        assertEquals(listOf("inputText", "inputText", "tap", "tap", "tap"), device.made)
    }

    @Test
    fun `a tool without a context returns data`() = runTest {
        val result = ToolServer("host").toolSet(ReloadToolSet()).call("reloadTools", emptyMap(), FakeDevice())
        assertEquals("""{"added":["new_tool_1"],"removed":[],"total":47}""", result.structured.toString())
    }

    @Test
    fun `a tool decides by the platform`() = runTest {
        val server = ToolServer("acme").tool("acme_launch", "Launch", make = ::LaunchTool)
        val launched = listOf(TrailblazeDevicePlatform.ANDROID, TrailblazeDevicePlatform.IOS).map { platform ->
            val device = FakeDevice(platform)
            server.call("acme_launch", emptyMap(), device)
            device.calls.single().args["packageId"]
        }
        assertEquals(listOf("com.acme.driver", "com.acme.AcmeDriver"), launched)
        val result = server.call("acme_launch", emptyMap(), FakeDevice(TrailblazeDevicePlatform.WEB))
        assertTrue(Regex("Unsupported platform \\(Composition.kt:\\d+\\)").matches(result.text), result.text)
    }

    @Test
    fun `a toolset with a registry is called on the device of the call`() = runTest {
        val (device, server) = device() to ToolServer("myapp").toolSet(::MyAppToolSet)
        assertEquals(ToolResult.success(), server.call(MyAppToolSet.ToolNames.LOGIN, login, device))
        assertEquals(signIn, device.made)
        assertEquals(ToolResult.success(), server.call(MyAppToolSet.ToolNames.CHECKOUT, mapOf("amount" to 1200), device))
        assertEquals(
            ToolMetadata(setOf(TrailblazeDevicePlatform.ANDROID, TrailblazeDevicePlatform.IOS), setOf("setup"), exposedToLlm = false, isRecordable = false),
            server.registry["myapp_setup"],
        )
        assertEquals(listOf("myapp_login", "myapp_checkout", "myapp_setup", "myapp_handleDialogs"), server.registry.keys.toList())
    }

    @Test
    fun `a tool asks what the screen shows`() = runTest {
        val server = ToolServer("myapp").toolSet(::MyAppToolSet)
        val device = FakeDevice().apply { show("Allow notifications", "Not now") }
        assertEquals(ToolResult.failure("No items found"), server.call(MyAppToolSet.ToolNames.HANDLE_DIALOGS, emptyMap(), device))
        assertEquals(listOf("isVisible", "tap", "isVisible", "getElementCount"), device.made)
    }

    @Test
    fun `a toolset gets a data class and the context`() = runTest {
        val (device, server) = device() to ToolServer("acme").toolSet(AcmeToolSet()).toolSet(SimpleToolSet())
        assertEquals(ToolResult.success(), server.call("login", login, device))
        assertEquals(signIn.dropLast(1), device.made)
        assertEquals(ToolResult.success(), server.call("tapButton", mapOf("text" to "Submit"), device))
        val schemas = server.tools.associate { it.name to it.arguments.schema.toString() }
        assertEquals(
            """{"type":"object","properties":{"email":{"type":"string"},"password":{"type":"string"}},"required":["email","password"],"additionalProperties":false}""",
            schemas["login"],
        )
        assertEquals("""{"properties":{"text":{"type":"string"}},"required":["text"],"additionalProperties":false}""", schemas["tapButton"])
        val context = TrailblazeContext.inProcess(device)
        assertEquals(ExecutionMode.IN_PROCESS, context.mode)
    }
}
