package com.example.wallet

import dev.trailblaze.tools.ToolServer

fun main(args: Array<String>) = ToolServer("wallet-tools", "1.0.0")
    .toolSet(WalletToolSet())
    .toolSet(::ButtonToolSet)
    .run(args)
