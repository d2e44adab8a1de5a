import dev.trailblaze.tools.LLMDescription
import dev.trailblaze.tools.Tool
import dev.trailblaze.tools.TrailblazeContext
import dev.trailblaze.tools.TrailblazeToolSet

/** A tool that looks at the screen: it calls a command of Trailblaze, and remembers the result. Add more tools to this class. */
class CLASS_OF_TOOL : TrailblazeToolSet {
    @Tool(customName = "NAME_OF_TOOL")
    @LLMDescription("Count the elements that have a text, and remember the number as `count`.")
    suspend fun count(
        @LLMDescription("The whole text of an element") text: String,
        ctx: TrailblazeContext,
    ): String {
        val count = ctx.client.getElementCount(text = text)
        ctx.memory["count"] = count
        return "$count on the screen"
    }
}
