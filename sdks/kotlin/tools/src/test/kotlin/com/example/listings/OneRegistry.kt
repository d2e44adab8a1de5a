package com.example.listings

import dev.trailblaze.TrailblazeDevicePlatform.ANDROID
import dev.trailblaze.TrailblazeDevicePlatform.IOS
import dev.trailblaze.tools.ToolMetadata

// One registry, all tools, namespaced
val registry = mapOf(
    "myapp_login" to ToolMetadata(platforms = setOf(ANDROID, IOS), groups = setOf("auth")),
    "myapp_checkout" to ToolMetadata(platforms = setOf(ANDROID, IOS), groups = setOf("payment")),
    "otherapp_transfer" to ToolMetadata(platforms = setOf(ANDROID, IOS), groups = setOf("transfer")),
    "otherapp_requestMoney" to ToolMetadata(platforms = setOf(ANDROID, IOS), groups = setOf("transfer")),
)

val ofMyApp = registry.filter { it.key.startsWith("myapp_") }

// The listing of tools that support some platforms only.
val crossPlatform = mapOf(
    "acme_login" to ToolMetadata(
        platforms = setOf(ANDROID, IOS),  // Not web
        groups = setOf("auth"),
    ),
)
