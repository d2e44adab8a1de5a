package dev.trailblaze.tools

import dev.trailblaze.TrailblazeCommands
import dev.trailblaze.messages.ScreenState

/**
 * A tool, or the arguments of one, as a class. A function with the annotation [Tool] whose parameter is one gets its fields as its
 * arguments:
 *
 *     @Serializable
 *     data class LoginTool(val email: String, val password: String) : TrailblazeTool
 */
public interface TrailblazeTool

/**
 * A tool as a class that gets its arguments when it is called. [ToolServer.tool] adds it.
 *
 * @param A The arguments: a class with the annotation `Serializable`, or `Map<String, Any>` for any object.
 */
public interface TypedTrailblazeTool<A> : TrailblazeTool {
    /** Carries out the tool. */
    public suspend fun execute(args: A): ToolResult
}

/** A tool whose arguments are the parameters of its constructor. */
public interface ExecutableTrailblazeTool : TrailblazeTool {
    /** Carries out the tool. */
    public suspend fun execute(ctx: TrailblazeToolExecutionContext): TrailblazeToolResult
}

/**
 * A tool that converts its arguments, the parameters of its constructor, to calls of other tools. Trailblaze makes these calls, and
 * records them instead of this one.
 */
public interface DelegatingTrailblazeTool : TrailblazeTool {
    /** The calls to make. Each is an object of a class that has the annotation [TrailblazeToolClass]. */
    public fun toExecutableTrailblazeTools(ctx: TrailblazeToolExecutionContext): List<ExecutableTrailblazeTool>
}

/**
 * What an [ExecutableTrailblazeTool] or a [DelegatingTrailblazeTool] works with.
 *
 * @property context The context of the call.
 */
public class TrailblazeToolExecutionContext internal constructor(
    public val context: TrailblazeContext,
    private val screen: ScreenState?,
) {
    /** The commands of the device. */
    public val client: TrailblazeCommands
        get() = context.client

    /** The screen when a [DelegatingTrailblazeTool] was called. Other tools ask for it: `client.captureScreen()`. */
    public val screenState: ScreenState
        get() = checkNotNull(screen) { "only tools that delegate get the screen; call `client.captureScreen()`" }
}

/** What an [ExecutableTrailblazeTool] returns. */
public sealed interface TrailblazeToolResult {
    /** The tool succeeded. */
    public data object Success : TrailblazeToolResult

    /**
     * The tool failed.
     *
     * @property message Why.
     */
    public data class Error(val message: String) : TrailblazeToolResult
}
