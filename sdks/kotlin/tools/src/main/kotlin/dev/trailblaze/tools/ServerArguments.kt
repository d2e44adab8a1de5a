package dev.trailblaze.tools

/**
 * What the arguments of the program ask for. Trailblaze starts a server with `--transport http --port N` if several devices share it.
 *
 * @property port The port to listen on. Null means stdio.
 */
internal class ServerArguments(val port: Int?) {
    companion object {
        private const val MAX_PORT = 65_535

        fun of(args: List<String>): ServerArguments {
            val transport = valueOf(args, "--transport")
            if (transport == null || transport == "stdio") return ServerArguments(null)
            require(transport == "http") { "`--transport` must be stdio or http, got `$transport`" }
            val port = valueOf(args, "--port")
            val number = port?.takeIf { it.all(Char::isDigit) }?.toIntOrNull()?.takeIf { it <= MAX_PORT }
            requireNotNull(number) { "`--transport http` needs a `--port` from 0 to 65535, got `${port ?: "none"}`" }
            return ServerArguments(number)
        }

        private fun valueOf(args: List<String>, name: String): String? {
            val at = args.indexOfFirst { it == name || it.startsWith("$name=") }
            return when {
                at < 0 -> null
                args[at] == name -> args.getOrNull(at + 1)
                else -> args[at].substring(name.length + 1)
            }
        }
    }
}
