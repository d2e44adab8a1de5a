package com.example

import com.example.listings.AcmeDriverLoginTool
import com.example.listings.AcmeToolSet
import com.example.listings.MyAppToolSet
import com.example.listings.ReloadToolSet
import com.example.listings.SimpleToolSet
import com.example.listings.types.InputTextTrailblazeTool
import com.example.listings.types.TapOnElementByNodeIdTrailblazeTool
import dev.trailblaze.tools.ToolServer

/** The listings as one server, in one jar, with one registry. */
fun main(args: Array<String>) = ToolServer("listings")
    .toolSet(::MyAppToolSet)
    .toolSet(AcmeToolSet())
    .toolSet(SimpleToolSet())
    .toolSet(ReloadToolSet())
    .tool("acme_driver_login", "Log in to Acme Driver app", make = ::AcmeDriverLoginTool)
    .toolClasses(InputTextTrailblazeTool::class, TapOnElementByNodeIdTrailblazeTool::class)
    .run(args)
