package com.example.wallet

import dev.trailblaze.TrailblazeDevicePlatform.ANDROID
import dev.trailblaze.TrailblazeDevicePlatform.IOS
import dev.trailblaze.tools.GroupInfo
import dev.trailblaze.tools.HasRegistry
import dev.trailblaze.tools.LLMDescription
import dev.trailblaze.tools.Tool
import dev.trailblaze.tools.ToolMetadata
import dev.trailblaze.tools.ToolResult
import dev.trailblaze.tools.TrailblazeContext
import dev.trailblaze.tools.TrailblazeTool
import dev.trailblaze.tools.TrailblazeToolSet
import kotlinx.serialization.Serializable

@Serializable
data class Payment(
    @LLMDescription("Who gets the money") val to: String,
    @LLMDescription("How much, in euros, such as 12.50") val amount: String,
    @LLMDescription("What it is for") val note: String? = null,
) : TrailblazeTool

/** The tools of the wallet's team. */
class WalletToolSet : TrailblazeToolSet, HasRegistry by WalletRegistry {
    object ToolNames {
        const val LOGIN = "wallet_login"
        const val LOGIN_WITH_RETRY = "wallet_loginWithRetry"
        const val SEND = "wallet_send"
        const val CHECK_BALANCE = "wallet_checkBalance"
        const val HANDLE_DIALOGS = "wallet_handleDialogs"
        const val SETUP = "wallet_setup"
    }

    @Tool(customName = ToolNames.LOGIN)
    @LLMDescription("Sign in to the wallet with an email address and a PIN.")
    suspend fun login(
        @LLMDescription("The email address of the account") email: String,
        @LLMDescription("The PIN of the account") pin: String,
        ctx: TrailblazeContext,
    ): String {
        setup(ctx)
        enter(email, pin)
        ctx.client.waitUntilVisible("Balance", 10_000)
        handleDialogs(ctx)
        return "signed in"
    }

    @Tool(customName = ToolNames.LOGIN_WITH_RETRY)
    @LLMDescription("Sign in, and try again if the wallet does not open. A wrong PIN is not tried again.")
    suspend fun loginWithRetry(
        @LLMDescription("The email address of the account") email: String,
        @LLMDescription("The PIN of the account") pin: String,
        ctx: TrailblazeContext,
        @LLMDescription("How often to try") maxAttempts: Int = 3,
    ): ToolResult {
        for (attempts in 1..maxAttempts) {
            ctx.progress("attempt $attempts of $maxAttempts")
            setup(ctx)
            enter(email, pin)
            if (ctx.client.isVisible(text = "Balance", timeoutMs = 5_000)) return ToolResult.success("signed in after $attempts")
            if (ctx.client.hasText("Wrong PIN")) return ToolResult.fatalError("the PIN of $email is wrong")
        }
        return ToolResult.failure("the wallet did not open in $maxAttempts attempts")
    }

    @Tool(customName = ToolNames.SEND)
    @LLMDescription("Send money, and remember the reference of the payment as `reference`.")
    suspend fun send(payment: Payment, ctx: TrailblazeContext): String {
        val tb = ctx.client
        tb.tap(text = "Send money")
        for ((field, text) in listOf("recipient" to payment.to, "amount" to payment.amount, "note" to payment.note)) {
            if (text == null) continue
            tb.tap(id = field)
            tb.inputText(text)
        }
        tb.tap(id = "review")
        tb.tap(id = "confirmSend")
        tb.waitUntilVisible("Sent €${payment.amount} to ${payment.to}", 10_000)
        val reference = tb.getElementText("reference").orEmpty()
        ctx.memory["reference"] = reference
        tb.tap(text = "Done")
        return "sent, reference $reference"
    }

    @Tool(customName = ToolNames.CHECK_BALANCE)
    @LLMDescription("Check the balance of the wallet.")
    suspend fun checkBalance(
        @LLMDescription("The expected balance in euros, such as 107.50") euros: String,
        ctx: TrailblazeContext,
    ): ToolResult {
        val shown = ctx.client.getElementText("balance") ?: "nothing"
        return if (shown == "€$euros") ToolResult.success() else ToolResult.assertionFailed("the balance is $shown, expected €$euros")
    }

    @Tool(customName = ToolNames.HANDLE_DIALOGS)
    @LLMDescription("Close whatever the wallet asks when it is opened.")
    suspend fun handleDialogs(ctx: TrailblazeContext) {
        if (ctx.client.isVisible(id = "notNow", timeoutMs = 2_000)) ctx.client.tap(id = "notNow")
    }

    @Tool(customName = ToolNames.SETUP)
    @LLMDescription("Clear the wallet's data and launch it.")
    suspend fun setup(ctx: TrailblazeContext) {
        val app = if (ctx.device.platform == IOS) "com.example.Wallet" else "com.example.wallet"
        ctx.client.clearAppData(app)
        ctx.client.launchApp(app)
    }

    /** Not a tool. It asks for the context of the call that it belongs to. */
    private suspend fun enter(email: String, pin: String) {
        val tb = TrailblazeContext.current().client
        tb.tap(id = "email")
        tb.inputText(email)
        tb.tap(id = "pin")
        tb.inputText(pin)
        tb.tap(id = "submit")
    }
}

/** What Trailblaze knows about the tools. */
object WalletRegistry : HasRegistry {
    private val phones = setOf(ANDROID, IOS)

    override val registry = mapOf(
        WalletToolSet.ToolNames.LOGIN to ToolMetadata(phones, groups = setOf("auth"), toolset = "wallet"),
        WalletToolSet.ToolNames.LOGIN_WITH_RETRY to ToolMetadata(phones, groups = setOf("auth"), toolset = "wallet"),
        WalletToolSet.ToolNames.SEND to ToolMetadata(phones, groups = setOf("payments"), toolset = "wallet"),
        WalletToolSet.ToolNames.CHECK_BALANCE to ToolMetadata(phones, groups = setOf("payments"), toolset = "wallet"),
        WalletToolSet.ToolNames.HANDLE_DIALOGS to ToolMetadata(phones, exposedToLlm = false),
        WalletToolSet.ToolNames.SETUP to ToolMetadata(phones, exposedToLlm = false, isRecordable = false),
    )

    override val groups = mapOf(
        "auth" to GroupInfo("Signing in", defaultEnabled = true),
        "payments" to GroupInfo("Sending money", defaultEnabled = true),
    )
}
