package dev.trailblaze.tools

import io.ktor.server.cio.CIO
import io.ktor.server.engine.embeddedServer
import io.modelcontextprotocol.kotlin.sdk.server.Server
import io.modelcontextprotocol.kotlin.sdk.server.ServerOptions
import io.modelcontextprotocol.kotlin.sdk.server.StdioServerTransport
import io.modelcontextprotocol.kotlin.sdk.server.mcpStreamableHttp
import io.modelcontextprotocol.kotlin.sdk.types.Implementation
import io.modelcontextprotocol.kotlin.sdk.types.ReadResourceResult
import io.modelcontextprotocol.kotlin.sdk.types.ServerCapabilities
import io.modelcontextprotocol.kotlin.sdk.types.TextResourceContents
import io.modelcontextprotocol.kotlin.sdk.types.Tool
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.launch
import kotlinx.coroutines.runInterruptible
import kotlinx.io.asSink
import kotlinx.io.asSource
import kotlinx.io.buffered
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonPrimitive
import java.io.FileDescriptor
import java.io.FileOutputStream
import java.io.FilterInputStream
import java.io.InputStream
import java.io.OutputStream
import java.util.concurrent.CountDownLatch
import java.util.concurrent.atomic.AtomicBoolean

/** Serves tools with MCP's library, over stdio or HTTP. */
internal class Serving(private val tools: ToolServer) {
    suspend fun serve(arguments: ServerArguments) {
        val stdout = keepStdoutForProtocol()
        tools.watchUncaught()
        if (arguments.port == null) serveStdio(stdout) else serveHttp(arguments.port)
    }

    private suspend fun serveStdio(stdout: OutputStream) {
        val gone = CompletableDeferred<Unit>()
        val server = server()
        val transport = StdioServerTransport(server.whenConnected(System.`in`).asSource().buffered(), stdout.asSink().buffered())
        val session = server.createSession(transport)
        session.onClose { gone.complete(Unit) }
        // It may have been closed before it could be told.
        if (session.transport == null) gone.complete(Unit)
        gone.await()
    }

    private suspend fun serveHttp(port: Int) {
        val engine = embeddedServer(CIO, host = HOST, port = port) {
            mcpStreamableHttp(path = PATH, maxSessions = MAX_SESSIONS) { server() }
        }
        engine.startSuspend(wait = false)
        try {
            val bound = engine.engine.resolvedConnectors().first().port
            System.err.println("listening on http://$HOST:$bound$PATH")
            // If it was started by hand or by a service manager, it may have no stdin.
            if (System.getenv("TRAILBLAZE_BASE_URL") == null) awaitCancellation()
            runInterruptible(Dispatchers.IO) { System.`in`.transferTo(OutputStream.nullOutputStream()) }
        } finally {
            engine.stopSuspend(gracePeriodMillis = 0, timeoutMillis = LAST_MOMENT_MS)
        }
    }

    /** A server for one connection. */
    fun server(): Server {
        val capabilities = ServerCapabilities(
            tools = ServerCapabilities.Tools(),
            resources = ServerCapabilities.Resources(),
            logging = ServerCapabilities.Logging,
        )
        val instructions = tools.instructions?.let { text -> { text } }
        val server = Server(Implementation(tools.name, tools.version), ServerOptions(capabilities), instructions)
        Listing.addTo(server) { tools.tools.associate { it.name to it.arguments.schema } }
        val registry = tools.registry
        for (tool in tools.tools) {
            val definition = Tool(
                name = tool.name,
                description = tool.description,
                inputSchema = tool.arguments.schema.toToolSchema(),
                meta = withPlace(registry[tool.name]?.toMeta(), tool.where),
            )
            server.addTool(definition) { request ->
                val notices = ConnectedNotices.of(tool.name, this, request)
                coroutineScope {
                    val sending = launch { notices.send() }
                    val context = TrailblazeContext.of(request.meta?.json, notices)
                    val hasEnded = AtomicBoolean()
                    val watching = launch(Dispatchers.Default) { printPlaceIfCancelled(context.thread, hasEnded) }
                    val result = tools.invoke(tool, request.arguments, context)
                    hasEnded.set(true)
                    watching.cancel()
                    notices.close()
                    sending.join()
                    Results.toMcp(result)
                }
            }
        }
        val json = registryJson(registry, tools.groups, tools.name, tools.version).toString()
        server.addResource(REGISTRY, REGISTRY, "Metadata of the tools, for Trailblaze", "application/json") {
            ReadResourceResult(listOf(TextResourceContents(json, REGISTRY, "application/json")))
        }
        return server
    }

    /** Prints where a tool is whose call is cancelled: Trailblaze shows it if the tool was silent for too long. */
    private suspend fun printPlaceIfCancelled(thread: RunningThread, hasEnded: AtomicBoolean) {
        try {
            awaitCancellation()
        } finally {
            thread.place()?.takeUnless { hasEnded.get() }?.let { System.err.println("stopped while it was at $it") }
        }
    }

    /** The input once the server is connected, so that nothing is answered before all handlers are there. */
    private fun Server.whenConnected(input: InputStream): InputStream {
        val connected = CountDownLatch(1)
        onConnect { connected.countDown() }
        return object : FilterInputStream(input) {
            override fun read(): Int {
                connected.await()
                return super.read()
            }

            override fun read(into: ByteArray, offset: Int, length: Int): Int {
                connected.await()
                return super.read(into, offset, length)
            }
        }
    }

    /** The metadata of a tool; for Trailblaze, with the line of its definition, which messages name. */
    private fun withPlace(meta: JsonObject?, where: String?): JsonObject? {
        if (where == null || System.getenv("TRAILBLAZE_BASE_URL") == null) return meta
        return JsonObject(meta.orEmpty() + ("trailblaze/definedAt" to JsonPrimitive(where)))
    }

    private companion object {
        const val HOST = "127.0.0.1"
        const val PATH = "/mcp"
        const val REGISTRY = "trailblaze://registry"

        /** Sessions of clients that disappeared stay open for a while, so their number is limited. */
        const val MAX_SESSIONS = 100

        /** How long tools have to finish after the client has gone. Trailblaze itself waits five seconds. */
        const val LAST_MOMENT_MS = 2_000L

        /** One stray line of a tool would break the connection. */
        fun keepStdoutForProtocol(): OutputStream {
            System.setOut(System.err)
            // MCP's library logs through SLF4J, which need not be set up.
            System.getProperty("slf4j.internal.verbosity") ?: System.setProperty("slf4j.internal.verbosity", "ERROR")
            System.getProperty("kotlin-logging.logStartupMessage")
                ?: System.setProperty("kotlin-logging.logStartupMessage", "false")
            return FileOutputStream(FileDescriptor.out)
        }
    }
}
