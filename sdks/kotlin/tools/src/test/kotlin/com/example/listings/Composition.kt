package com.example.listings.composition

import dev.trailblaze.TrailblazeCommands
import dev.trailblaze.TrailblazeDevicePlatform.ANDROID
import dev.trailblaze.TrailblazeDevicePlatform.IOS
import dev.trailblaze.tools.ToolResult
import dev.trailblaze.tools.TypedTrailblazeTool
import kotlinx.serialization.Serializable

@Serializable
data class LoginArgs(val email: String, val password: String)

@Serializable
data class Args(val email: String, val password: String, val itemName: String)

class MyAppLoginTool(private val commands: TrailblazeCommands) : TypedTrailblazeTool<LoginArgs> {
    override suspend fun execute(args: LoginArgs): ToolResult {
        commands.inputText(args.email)
        commands.inputText(args.password)
        return ToolResult.success()
    }
}

class MyAppFullCheckoutFlow(
    private val commands: TrailblazeCommands,
    private val loginTool: MyAppLoginTool,  // Same server, direct call
) : TypedTrailblazeTool<Args> {
    override suspend fun execute(args: Args): ToolResult {
        // Direct call to another tool (same process)
        loginTool.execute(LoginArgs(args.email, args.password))

        // Call core primitives (via RPC or direct, depending on mode)
        commands.tap(text = "Shop")
        commands.tap(text = args.itemName)
        commands.tap(text = "Checkout")

        return ToolResult.success()
    }
}

@Serializable
class NoArgs

class LaunchTool(private val commands: TrailblazeCommands) : TypedTrailblazeTool<NoArgs> {
    override suspend fun execute(args: NoArgs): ToolResult {
        val packageId = when (commands.platform) {
            ANDROID -> "com.acme.driver"
            IOS -> "com.acme.AcmeDriver"
            else -> error("Unsupported platform")
        }
        commands.launchApp(packageId)
        return ToolResult.success()
    }
}
