package com.example.listings.central

import dev.trailblaze.TrailblazeDevicePlatform.ANDROID
import dev.trailblaze.TrailblazeDevicePlatform.DESKTOP
import dev.trailblaze.TrailblazeDevicePlatform.IOS
import dev.trailblaze.TrailblazeDevicePlatform.WEB
import dev.trailblaze.tools.GroupInfo
import dev.trailblaze.tools.ToolMetadata

// MyAppToolRegistry.kt - Single source of truth
object MyAppToolRegistry {
    val tools: Map<String, ToolMetadata> = mapOf(
        "myapp_launchAppSignedIn" to ToolMetadata(
            platforms = setOf(ANDROID, IOS, DESKTOP),
            groups = setOf("auth", "setup"),
        ),
        "myapp_checkout" to ToolMetadata(
            platforms = setOf(ANDROID, IOS, DESKTOP, WEB),
            groups = setOf("checkout", "payments"),
        ),
        "tapOnElementByNodeId" to ToolMetadata(
            platforms = setOf(ANDROID, IOS, DESKTOP, WEB),
            groups = setOf("core"),
            isRecordable = false,
            isDelegating = true,
        ),
    )

    val groups: Map<String, GroupInfo> = mapOf(
        "auth" to GroupInfo("Authentication tools", defaultEnabled = true),
        "checkout" to GroupInfo("Checkout flow", defaultEnabled = false),
    )
}
