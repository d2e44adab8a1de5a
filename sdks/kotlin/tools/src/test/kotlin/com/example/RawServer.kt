package com.example

import com.example.listings.addMyTool
import io.modelcontextprotocol.kotlin.sdk.server.Server
import io.modelcontextprotocol.kotlin.sdk.server.ServerOptions
import io.modelcontextprotocol.kotlin.sdk.server.StdioServerTransport
import io.modelcontextprotocol.kotlin.sdk.types.Implementation
import io.modelcontextprotocol.kotlin.sdk.types.ServerCapabilities
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.runBlocking
import kotlinx.io.asSink
import kotlinx.io.asSource
import kotlinx.io.buffered

/** A server without the library for tools. */
fun main() = runBlocking {
    val server = Server(Implementation("raw", "1"), ServerOptions(ServerCapabilities(tools = ServerCapabilities.Tools())))
    addMyTool(server)
    val stdout = System.out
    System.setOut(System.err)
    val gone = CompletableDeferred<Unit>()
    server.createSession(StdioServerTransport(System.`in`.asSource().buffered(), stdout.asSink().buffered())).onClose { gone.complete(Unit) }
    gone.await()
}
