import dev.trailblaze.tools.ToolServer

/** The server that Trailblaze starts. */
fun main(args: Array<String>) = ToolServer("kotlin-tools")
    .toolSet(CLASS_OF_TOOL())
    .run(args)
