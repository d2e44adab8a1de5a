package dev.trailblaze.tools

import kotlinx.serialization.json.Json
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonPrimitive
import kotlinx.serialization.json.jsonObject
import java.util.concurrent.CompletableFuture
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.CopyOnWriteArrayList
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicInteger
import kotlin.concurrent.thread

/** A server in a process of its own, which speaks MCP on stdin and stdout. */
internal class McpProcess(command: List<String>, environment: Map<String, String> = emptyMap()) : AutoCloseable {
    private val process = ProcessBuilder(command).apply { environment().putAll(environment) }.start()
    private val ids = AtomicInteger()
    private val answers = ConcurrentHashMap<Int, CompletableFuture<JsonObject>>()
    private val heard = CopyOnWriteArrayList<String>()
    private val err = CopyOnWriteArrayList<String>()

    /** Lines of stdout that are not JSON. */
    val stray = CopyOnWriteArrayList<String>()

    /** The methods and parameters of the notifications so far. */
    val notifications: List<String> get() = heard

    val stderr: List<String> get() = err

    init {
        thread(isDaemon = true) { runCatching { process.inputStream.bufferedReader().forEachLine(::receive) } }
        thread(isDaemon = true) { runCatching { process.errorStream.bufferedReader().forEachLine(err::add) } }
    }

    /** What `initialize` returned. */
    fun initialize(): JsonObject {
        val answer = request("initialize", """{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"0"}}""")
        notify("notifications/initialized", "{}")
        return answer.get(LIMIT, TimeUnit.SECONDS)
    }

    fun request(method: String, params: String, id: Int = ids.incrementAndGet()): CompletableFuture<JsonObject> {
        val answer = answers.computeIfAbsent(id) { CompletableFuture() }
        write("""{"jsonrpc":"2.0","id":$id,"method":"$method","params":$params}""")
        return answer
    }

    fun call(tool: String, args: String = "{}", meta: String = "{}", id: Int = ids.incrementAndGet()): CompletableFuture<JsonObject> =
        request("tools/call", """{"name":"$tool","arguments":$args,"_meta":$meta}""", id)

    fun notify(method: String, params: String) = write("""{"jsonrpc":"2.0","method":"$method","params":$params}""")

    /** Closes stdin, and returns the exit code. */
    fun end(): Int {
        process.outputStream.close()
        check(process.waitFor(LIMIT, TimeUnit.SECONDS)) { "the server did not end: $err" }
        return process.exitValue()
    }

    fun waitForStderr(text: String): String {
        val end = System.nanoTime() + TimeUnit.SECONDS.toNanos(LIMIT)
        while (System.nanoTime() < end) {
            err.firstOrNull { it.contains(text) }?.let { return it }
            Thread.sleep(20)
        }
        error("`$text` was not printed: $err")
    }

    override fun close() {
        process.destroyForcibly().waitFor()
    }

    @Synchronized
    private fun write(line: String) {
        process.outputStream.write("$line\n".toByteArray())
        process.outputStream.flush()
    }

    private fun receive(line: String) {
        val message = runCatching { Json.parseToJsonElement(line).jsonObject }.getOrNull()
        val id = (message?.get("id") as? JsonPrimitive)?.content?.toIntOrNull()
        when {
            message == null -> stray.add(line)
            id != null -> answers.computeIfAbsent(id) { CompletableFuture() }.complete(message)
            else -> heard.add("${message["method"]} ${message["params"]}")
        }
    }

    companion object {
        const val LIMIT = 60L
    }
}

internal fun CompletableFuture<JsonObject>.result(): JsonObject {
    val answer = get(McpProcess.LIMIT, TimeUnit.SECONDS)
    return answer["result"] as? JsonObject ?: error("$answer")
}
