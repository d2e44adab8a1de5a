package com.example

import dev.trailblaze.ParityCase
import dev.trailblaze.answerOf
import dev.trailblaze.tools.Tool
import dev.trailblaze.tools.ToolServer
import dev.trailblaze.tools.TrailblazeContext
import dev.trailblaze.tools.TrailblazeToolSet

/** A tool that answers the cases of tests/parity on its device, and returns those that differ. */
class ParityToolSet : TrailblazeToolSet {
    @Tool(customName = "parity_answers")
    suspend fun answers(ctx: TrailblazeContext): List<String> = ParityCase.on(ctx.device.id).mapNotNull { case ->
        answerOf(ctx.client, case).takeIf { it != case.answer }?.let { "$case: got $it, expected ${case.answer}" }
    }
}

fun main(args: Array<String>) = ToolServer("parity").toolSet(ParityToolSet()).run(args)
