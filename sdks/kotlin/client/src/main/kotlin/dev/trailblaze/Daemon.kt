package dev.trailblaze

import com.sun.security.auth.module.UnixSystem
import java.io.IOException
import java.nio.file.Files
import java.nio.file.LinkOption
import java.nio.file.NoSuchFileException
import java.nio.file.NotDirectoryException
import java.nio.file.Path
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonPrimitive
import kotlinx.serialization.json.buildJsonObject
import kotlinx.serialization.json.put
import kotlinx.serialization.json.putJsonObject

/*
 * Finds the session of a client that was told nothing: in this user's daemon, by the file that has its address and key.
 */

/** The variable that names the session, if several are open. */
private const val SESSION = "TRAILBLAZE_SESSION"

/** How long a daemon may take. It answers at once, unless the session is being opened. */
private const val TIMEOUT_MS = 30_000L

/** Statuses of other programs: the daemon was killed, and its port is theirs now. */
private val OF_OTHERS = setOf(401, 403, 404, 405)

private const val PRIVATE_MASK = 0b000_111_111

private class Daemon(val address: Address, val key: String)

private class Refusal(val message: String, val hint: String?, val exit: String?, val isNoSession: Boolean)

/** The session that TRAILBLAZE_SESSION names, or the only one that is open. */
internal suspend fun findSession(environment: Environment, timeoutMs: Long): Endpoint {
    val sessions = mutableListOf<Endpoint>()
    val refusals = mutableListOf<Refusal>()
    for (daemon in daemons(environment)) {
        when (val answer = ask(daemon, environment(SESSION), minOf(timeoutMs, TIMEOUT_MS))) {
            is Endpoint -> sessions += answer
            is Refusal -> refusals += answer
        }
    }
    val problems = refusals.filterNot { it.isNoSession }
    if (sessions.size == 1 && problems.isEmpty()) return sessions.single()
    if (sessions.isNotEmpty() || problems.size > 1 || problems.firstOrNull()?.exit == "invalid") {
        val texts = problems.map { it.message } + sessions.map { "session `${it.session}` is open" }
        throw ApiError(Code.FAILED_PRECONDITION, "${texts.joinToString("; ")}; set $SESSION to the name of one")
    }
    val refusal = problems.firstOrNull() ?: refusals.firstOrNull()
        ?: throw ApiError(Code.FAILED_PRECONDITION, "no Trailblaze session is open; `trailblaze device connect` opens one")
    val hint = refusal.hint?.let { "; $it" }.orEmpty()
    throw ApiError(if (refusal.isNoSession) Code.FAILED_PRECONDITION else Code.UNAVAILABLE, refusal.message + hint)
}

/** Asks for access to a session: an [Endpoint], a [Refusal], or null if the daemon is gone. */
private suspend fun ask(daemon: Daemon, name: String?, timeoutMs: Long): Any? {
    val body = buildJsonObject {
        putJsonObject("access") { putJsonObject("session") { if (name != null) put("name", name) } }
    }
    val headers = mapOf("Content-Type" to "application/json", "Authorization" to "Bearer ${daemon.key}")
    val response = try {
        Http.post(daemon.address, "/daemon", headers, body.toString().toByteArray(), timeoutMs) { WholeBody() }
    } catch (_: ConnectionFailed) {
        return null
    }
    if (response.statusCode() in OF_OTHERS) return null
    // Lines before the last one are progress.
    val line = parseOrNull(response.body().decodeToString().trim().substringAfterLast('\n').toByteArray()) as? JsonObject
    val error = line?.get("error") as? JsonObject
    val message = error?.let { text(it, "message") }
    if (error != null && message != null) {
        val isNoSession = (error["isNoSession"] as? JsonPrimitive)?.content == "true"
        return Refusal(message, text(error, "hint"), text(error, "exit"), isNoSession)
    }
    val access = (line?.get("answer") as? JsonObject)?.get("access") as? JsonObject
    val found = access?.let { listOf(text(it, "name"), text(it, "address"), text(it, "key")) }.orEmpty().filterNotNull()
    if (found.size == 3) return Endpoint(Address.parse(found[1]), found[2], found[0])
    return Refusal(
        "the daemon answers in a way that this version of the client does not understand",
        "use the version of `trailblaze` and of this library that belong together",
        exit = null,
        isNoSession = false,
    )
}

private fun text(json: JsonObject, name: String): String? = (json[name] as? JsonPrimitive)?.takeIf { it.isString }?.content

/** The daemons of this user. A program that a team built with tools of its own has its own daemon. */
private fun daemons(environment: Environment): List<Daemon> {
    val user = user() ?: return emptyList()
    val folder = folder(environment, user)
    val files = try {
        Files.newDirectoryStream(folder, "*.daemon.json").use { it.sorted() }
    } catch (_: NoSuchFileException) {
        return emptyList()
    } catch (_: NotDirectoryException) {
        return emptyList()
    } catch (problem: IOException) {
        throw ApiError(Code.PERMISSION_DENIED, "`$folder` cannot be read: ${problem.message}", problem)
    }
    if (files.isEmpty()) return emptyList()
    // Before anything in it is believed: it may be in a folder that all users share.
    check(folder, user)
    return files.mapNotNull { read(it, user) }
}

private fun folder(environment: Environment, user: Long): Path {
    // Agents start servers without most variables.
    val runtimes = listOfNotNull(environment("XDG_RUNTIME_DIR"), "/run/user/$user").map(Path::of)
    return runtimes.firstOrNull(Files::isDirectory)?.resolve("trailblaze")
        ?: Path.of(environment("TMPDIR") ?: "/tmp", "trailblaze-$user")
}

/** The id of this user; null where users have none. */
private fun user(): Long? = try {
    val self = Path.of("/proc/self")
    if (Files.exists(self)) number(Files.getAttribute(self, "unix:uid")) else UnixSystem().uid
} catch (_: LinkageError) {
    null
} catch (_: UnsupportedOperationException) {
    null
}

private fun number(attribute: Any?): Long = (attribute as Number).toLong()

/** Throws unless a file or folder belongs to this user, and no other user may use it. */
private fun check(path: Path, user: Long) {
    val facts = Files.readAttributes(path, "unix:mode,uid", LinkOption.NOFOLLOW_LINKS)
    val isPrivate = number(facts["mode"]).toInt() and PRIVATE_MASK == 0
    if (Files.isSymbolicLink(path) || number(facts["uid"]) != user || !isPrivate) {
        val text = "`$path` is not used: it belongs to another user, or other users may use it; `chmod go= $path` changes that"
        throw ApiError(Code.PERMISSION_DENIED, text)
    }
}

/** Null if the daemon has just ended. */
private fun read(path: Path, user: Long): Daemon? {
    val bytes = try {
        check(path, user)
        Files.readAllBytes(path)
    } catch (_: IOException) {
        return null
    }
    val file = parseOrNull(bytes) as? JsonObject
    val address = file?.let { text(it, "address") }
    val key = file?.let { text(it, "key") }?.takeIf { key -> key.all { it in ' '..'~' } }
    try {
        if (address != null && key != null) return Daemon(Address.parse(address), key)
    } catch (_: IllegalArgumentException) {
        // It is not an address.
    }
    throw ApiError(Code.INTERNAL, "`$path` is not the file of a daemon that this version understands")
}
