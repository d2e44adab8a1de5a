package dev.trailblaze.tools

import dev.trailblaze.JsonValues
import dev.trailblaze.Names
import dev.trailblaze.TrailblazeCommands
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.ensureActive
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withContext
import kotlinx.serialization.json.JsonObject
import java.lang.reflect.Proxy
import java.util.concurrent.atomic.AtomicBoolean
import kotlin.reflect.KClass
import kotlin.reflect.KType
import kotlin.reflect.typeOf
import kotlin.system.exitProcess

/**
 * A server of tools: one or several toolsets, with one merged registry.
 *
 *     fun main(args: Array<String>) = ToolServer("acme-tools")
 *         .toolSet(AcmeToolSet())
 *         .toolSet(::MyAppToolSet)
 *         .run(args)
 *
 * @property name The name of the server.
 * @property version Its version.
 * @property instructions Instructions for models about the whole server.
 */
public class ToolServer @JvmOverloads constructor(
    public val name: String,
    public val version: String = "0.0.0",
    public val instructions: String? = null,
) {
    private val defined = LinkedHashMap<String, DefinedTool>()
    private val described = LinkedHashMap<String, ToolMetadata>()
    private val describedGroups = LinkedHashMap<String, GroupInfo>()

    // Tools may block their threads. The protocol and the commands use others.
    private val dispatcher: CoroutineDispatcher = Dispatchers.IO.limitedParallelism(MAX_CALLS_AT_ONCE)
    private val running = RunningCalls(MAX_CALLS_AT_ONCE)
    private val isWatching = AtomicBoolean()

    /** The metadata of all tools, by name. */
    public val registry: Map<String, ToolMetadata>
        get() = defined.mapValues { (name, tool) -> described[name] ?: tool.metadata }

    /** The groups of all tools, by name. */
    public val groups: Map<String, GroupInfo>
        get() = describedGroups

    internal val tools: Collection<DefinedTool>
        get() = defined.values

    /** Adds the tools of an object, which serves all calls. */
    public fun toolSet(toolSet: ToolSet): ToolServer {
        DefinedTool.ofToolSet(toolSet::class) { toolSet }.forEach(::add)
        describe(toolSet)
        return this
    }

    /**
     * Adds the tools of a class whose constructor takes the commands of a device. Each call gets an object of its own, with the
     * commands of the device that it is for. If the class has a registry, one more object is made to read it.
     */
    public inline fun <reified T : ToolSet> toolSet(noinline make: (TrailblazeCommands) -> T): ToolServer =
        toolSet(T::class, make)

    /** Adds the tools of a class, each call on an object of its own. */
    public fun <T : ToolSet> toolSet(type: KClass<T>, make: (TrailblazeCommands) -> T): ToolServer {
        DefinedTool.ofToolSet(type) { context -> make(context.client) }.forEach(::add)
        if (Described.isPossible(type.java)) describe(make(noDevice))
        return this
    }

    /**
     * Adds a tool that is a class with arguments of their own.
     *
     * @param name The name of the tool.
     * @param description What models and people read about it.
     * @param metadata Its metadata.
     * @param make Makes an object for one call.
     */
    public inline fun <reified A> tool(
        name: String,
        description: String,
        metadata: ToolMetadata = ToolMetadata(),
        noinline make: (TrailblazeCommands) -> TypedTrailblazeTool<A>,
    ): ToolServer = tool(name, description, metadata, typeOf<A>(), make)

    @PublishedApi
    internal fun <A> tool(
        name: String,
        description: String,
        metadata: ToolMetadata,
        type: KType,
        make: (TrailblazeCommands) -> TypedTrailblazeTool<A>,
    ): ToolServer {
        add(DefinedTool.ofTyped(name, description, metadata, type, make))
        return this
    }

    /** Adds tools that are classes with the annotation [TrailblazeToolClass]. */
    public fun toolClasses(vararg types: KClass<out TrailblazeTool>): ToolServer {
        types.forEach { add(DefinedTool.ofClass(it)) }
        return this
    }

    /**
     * Calls a tool directly, as in a unit test: arguments are checked, and an exception becomes a result. Use each context for one
     * call only.
     *
     * @param name The name of the tool.
     * @param args Its arguments: texts, numbers, booleans, lists and maps.
     * @param context The context, such as `TrailblazeContext.inProcess(FakeDevice())`.
     */
    public suspend fun call(name: String, args: Map<String, Any?>, context: TrailblazeContext): ToolResult {
        val tool = defined[name]
            ?: throw IllegalArgumentException("no tool `$name`; there are: ${defined.keys.joinToString { "`$it`" }}")
        watchUncaught()
        return invoke(tool, JsonValues.toJson(args) as JsonObject, context)
    }

    /** Calls a tool directly, on a device. */
    public suspend fun call(name: String, args: Map<String, Any?>, commands: TrailblazeCommands): ToolResult =
        call(name, args, TrailblazeContext.inProcess(commands))

    /**
     * Serves the tools until the client is gone: over stdio, or with `--transport http --port N`, as Trailblaze passes it if several
     * devices share a server, over HTTP at /mcp on this machine. Stdout belongs to the protocol; what is printed goes to stderr.
     *
     * @param args The arguments of the program.
     */
    public fun run(args: Array<String>) {
        val arguments = try {
            checkRegistry()
            ServerArguments.of(args.asList())
        } catch (problem: IllegalArgumentException) {
            System.err.println("error: ${problem.message}")
            exitProcess(2)
        }
        runBlocking { Serving(this@ToolServer).serve(arguments) }
    }

    /** Fails the call that an uncaught exception belongs to. The author's own handler still runs; without one, the exception is printed. */
    internal fun watchUncaught() {
        if (isWatching.getAndSet(true)) return
        val former = Thread.getDefaultUncaughtExceptionHandler()
        Thread.setDefaultUncaughtExceptionHandler { thread, thrown ->
            running.uncaught(thrown)
            former?.uncaughtException(thread, thrown)
                ?: System.err.println("Exception in thread \"${thread.name}\" ${thrown.stackTraceToString()}")
        }
    }

    /** Calls a tool. Never throws, except if the call is cancelled: errors become results. */
    internal suspend fun invoke(tool: DefinedTool, args: JsonObject?, context: TrailblazeContext): ToolResult = try {
        running.run(tool.name, context::tellLate) {
            withContext(dispatcher + context + context.thread) { run(tool, args, context) }
        }.also { result -> if (!result.isError) context.tellDoubt(tool.name) }
    } catch (thrown: Throwable) {
        currentCoroutineContext().ensureActive()
        Results.failure(thrown, tool.where)
    }

    private suspend fun run(tool: DefinedTool, args: JsonObject?, context: TrailblazeContext): ToolResult {
        context.begin()
        var result: ToolResult? = null
        try {
            result = tool.run(Envelope.withoutContext(args), context)
        } finally {
            result = context.end(tool.name, result)
        }
        return checkNotNull(result)
    }

    /** Metadata of a tool that does not exist is most often a misspelled name, and would have no effect. */
    internal fun checkRegistry() {
        val name = described.keys.firstOrNull { it !in defined } ?: return
        throw DefinitionError("the registry has metadata of an ${Names.unknown("tool", name, defined.keys)}")
    }

    private fun add(tool: DefinedTool) {
        val first = defined.putIfAbsent(tool.name, tool) ?: return
        val places = listOfNotNull(first.where, tool.where).joinToString(" and ")
        throw DefinitionError(DefinedTool.atPlace("two tools are named `${tool.name}`; rename one", places.ifEmpty { null }))
    }

    private fun describe(toolSet: Any) {
        merge("tool", described, Described.map(toolSet, "registry", ToolMetadata::class.java))
        merge("group", describedGroups, Described.map(toolSet, "groups", GroupInfo::class.java))
    }

    private fun <T> merge(kind: String, into: MutableMap<String, T>, further: Map<String, T>) {
        for ((name, value) in further) {
            val first = into.putIfAbsent(name, value) ?: continue
            if (first != value) throw DefinitionError("the $kind `$name` is described twice: as $first and as $value")
        }
    }

    private companion object {
        /**
         * How many calls may run or block at the same time. MCP's library handles 64 requests of a connection; the others are for
         * those that are refused, and for what is no call.
         */
        const val MAX_CALLS_AT_ONCE = 60

        /** For the object that only describes its tools. */
        val noDevice: TrailblazeCommands = Proxy.newProxyInstance(
            TrailblazeCommands::class.java.classLoader,
            arrayOf(TrailblazeCommands::class.java),
        ) { _, method, _ ->
            if (method.name == "toString") "no device" else error("there is no device yet: `${method.name}` can be used during a call only")
        } as TrailblazeCommands
    }
}
