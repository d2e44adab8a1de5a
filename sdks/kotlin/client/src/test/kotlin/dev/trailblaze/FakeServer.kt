package dev.trailblaze

import java.io.IOException
import java.io.InputStream
import java.net.InetAddress
import java.net.ServerSocket
import java.net.Socket
import java.nio.ByteBuffer
import java.util.concurrent.CopyOnWriteArrayList
import java.util.concurrent.CountDownLatch
import java.util.concurrent.TimeUnit
import kotlin.concurrent.thread
import kotlinx.serialization.json.Json
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.jsonObject

/** A request as it arrived. */
class Request(val path: String, val headers: Map<String, String>, body: ByteArray) {
    /** The message, without the envelope of a stream. */
    val json: JsonObject by lazy {
        val isStream = headers["content-type"] == "application/connect+json"
        Json.parseToJsonElement((if (isStream) body.drop(5).toByteArray() else body).decodeToString()).jsonObject
    }
}

/** A server that answers as a test tells it, and keeps what it was asked. It can also misbehave on the wire. */
class FakeServer(
    /** The bytes of a response. Null ends the connection. */
    @Volatile var answer: (Request, Socket) -> ByteArray? = { _, _ -> respond("""{"success": true, "message": "done"}""") },
) : AutoCloseable {
    val requests = CopyOnWriteArrayList<Request>()
    val connections = CopyOnWriteArrayList<Socket>()
    private val closed = CountDownLatch(1)
    private val listener = ServerSocket(0, 512, InetAddress.getByName("127.0.0.1"))
    val address: String = "http://127.0.0.1:${listener.localPort}"
    val last: Request get() = requests.last()

    private val acceptor = thread(isDaemon = true) {
        try {
            while (true) {
                val socket = listener.accept()
                connections += socket
                thread(isDaemon = true) { serve(socket) }
            }
        } catch (_: IOException) {
            // It was closed.
        }
    }

    /** Waits until a client has closed a connection. */
    fun awaitHangUp(): Boolean = closed.await(30, TimeUnit.SECONDS)

    override fun close() {
        listener.close()
        // Until then, it may accept one more connection.
        acceptor.join()
        connections.forEach(Socket::close)
    }

    private fun serve(socket: Socket) {
        try {
            socket.use {
                val input = socket.getInputStream()
                while (true) {
                    val request = read(input) ?: break
                    requests += request
                    socket.getOutputStream().write(answer(request, socket) ?: break)
                }
            }
        } catch (_: IOException) {
            // The client has closed it.
        } finally {
            closed.countDown()
        }
    }

    private fun read(input: InputStream): Request? {
        val (_, path) = line(input)?.split(' ') ?: return null
        val headers = generateSequence { line(input)?.ifEmpty { null } }.associate { header ->
            header.substringBefore(':').lowercase() to header.substringAfter(':').trim()
        }
        return Request(path, headers, input.readNBytes(headers.getValue("content-length").toInt()))
    }

    private fun line(input: InputStream): String? {
        val bytes = generateSequence { input.read().takeIf { it >= 0 } }.takeWhile { it != '\n'.code }.toList()
        return if (bytes.isEmpty()) null else bytes.joinToString("") { it.toChar().toString() }.trimEnd()
    }
}

fun respond(body: String, status: Int = 200, type: String = "application/json"): ByteArray {
    val bytes = body.toByteArray()
    return "HTTP/1.1 $status Any\r\ncontent-type: $type\r\ncontent-length: ${bytes.size}\r\n\r\n".toByteArray() + bytes
}

/** An error of Connect. */
fun refuse(code: String, message: String, status: Int = 400): ByteArray =
    respond("""{"code": "$code", "message": "$message"}""", status)

/** A message of a stream. */
fun enveloped(message: String, flags: Int = 0): ByteArray {
    val bytes = message.toByteArray()
    return ByteBuffer.allocate(5 + bytes.size).put(flags.toByte()).putInt(bytes.size).put(bytes).array()
}

val STREAM_HEAD = "HTTP/1.1 200 OK\r\ncontent-type: application/connect+json\r\ntransfer-encoding: chunked\r\n\r\n".toByteArray()

fun chunk(bytes: ByteArray): ByteArray = "${bytes.size.toString(16)}\r\n".toByteArray() + bytes + "\r\n".toByteArray()

val LAST_CHUNK = "0\r\n\r\n".toByteArray()
