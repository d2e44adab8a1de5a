package com.example.listings

import com.example.listings.composition.LaunchTool
import com.example.listings.composition.MyAppFullCheckoutFlow
import com.example.listings.composition.MyAppLoginTool

// In-process: tools registered directly, no MCP server spawning
class TrailblazeMcpServer {
    val inProcessTools = listOf(
        MyAppLoginTool::class,
        MyAppFullCheckoutFlow::class,
        LaunchTool::class,
        // All in-process, same JVM
    )
}
