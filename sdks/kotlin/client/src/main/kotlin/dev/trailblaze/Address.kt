package dev.trailblaze

import java.net.URI
import java.net.URISyntaxException

/**
 * Where a Trailblaze listens.
 *
 * @property hosts The hosts to try, in this order.
 * @property path What the path begins with; empty, or from a slash.
 */
internal data class Address(val hosts: List<String>, val port: Int, val path: String) {
    /** The address in messages. */
    override fun toString(): String = url(hosts.first())

    fun url(host: String): String = if (':' in host) "http://[$host]:$port" else "http://$host:$port"

    /** Whether it is the same port and path. */
    fun isSamePlace(other: Address): Boolean = port == other.port && path == other.path

    companion object {
        private const val DEFAULT_PORT = "52525"

        private fun isSupported(address: Address): Boolean = try {
            URI("$address${address.path}").host != null
        } catch (_: URISyntaxException) {
            false
        }

        fun parse(address: String): Address {
            fun wrong(why: String = ""): Nothing =
                throw IllegalArgumentException("`$address` is not an address such as http://127.0.0.1:52525$why")
            val scheme = address.substringBeforeLast("://", "")
            val rest = address.substringAfterLast("://")
            val hasScheme = "://" in address
            if (hasScheme && !scheme.equals("http", ignoreCase = true)) wrong(": only http is supported")
            if (rest.any { it <= ' ' || it > '~' || it in "@?#" }) wrong()
            val authority = rest.substringBefore('/')
            val path = rest.substringAfter('/', "").trimEnd('/')
            val hasPort = ':' in authority && ']' !in authority.substringAfterLast(':')
            val port = if (hasPort) authority.substringAfterLast(':') else if (hasScheme) "80" else DEFAULT_PORT
            val name = if (hasPort) authority.substringBeforeLast(':') else authority
            val host = name.removePrefix("[").removeSuffix("]").lowercase()
            val number = port.takeIf { text -> text.isNotEmpty() && text.all { it in '0'..'9' } }?.toIntOrNull()
            if (host.isEmpty() || number == null || number !in 1..65535) wrong()
            val hosts = if (host == "localhost") listOf("127.0.0.1", "::1") else listOf(host)
            val parsed = Address(hosts, number, if (path.isEmpty()) "" else "/$path")
            // Such as an underscore in the name of a host.
            if (!isSupported(parsed)) wrong(": Java does not support it")
            return parsed
        }
    }
}
