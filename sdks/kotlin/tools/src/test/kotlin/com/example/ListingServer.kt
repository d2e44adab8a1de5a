package com.example

import com.example.listings.AcmeDriverLoginTool
import com.example.listings.AcmeToolSet
import com.example.listings.MyAppToolSet
import com.example.listings.SimpleToolSet
import com.example.listings.types.InputTextTrailblazeTool
import com.example.listings.types.TapOnLoginTrailblazeTool
import dev.trailblaze.tools.ToolServer

/** The listings as one server, in one jar, with one registry. */
fun main(args: Array<String>) = ToolServer("listings")
    .toolSet(::MyAppToolSet)
    .toolSet(AcmeToolSet())
    .toolSet(SimpleToolSet())
    .tool("acme_driver_login", "Log in to Acme Driver app", make = ::AcmeDriverLoginTool)
    .toolClasses(InputTextTrailblazeTool::class, TapOnLoginTrailblazeTool::class)
    .run(args)
