package dev.trailblaze.tools

import kotlinx.coroutines.delay
import kotlin.time.Duration
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.seconds
import kotlin.time.TimeMark
import kotlin.time.TimeSource

/**
 * Limits the calls that run at the same time. A further call waits while others begin and end; if none did for a while, all may be
 * stuck, and it is refused. A call fails if something that it started, and did not wait for, has thrown an exception.
 *
 * @param limit How many may run.
 * @param patience How long the youngest of them must have been running before a further one is refused.
 */
internal class RunningCalls(private val limit: Int, private val patience: Duration = 1.seconds) {
    private class Running(
        val tool: String,
        val tellLate: (text: String, isItsOwn: Boolean) -> Unit,
        val since: TimeMark = TimeSource.Monotonic.markNow(),
    ) {
        var uncaught: Throwable? = null
    }

    // From the oldest to the youngest.
    private val running = LinkedHashSet<Running>()
    private var isReported = false

    /** The call that ended last. */
    private var last: Running? = null

    /**
     * Runs a call, or returns why it is refused.
     *
     * @param tellLate Tells people of what fails after the call, and whether it certainly belongs to it.
     */
    suspend fun run(
        tool: String,
        tellLate: (text: String, isItsOwn: Boolean) -> Unit = { _, _ -> },
        call: suspend () -> ToolResult,
    ): ToolResult {
        var entered: Running? = null
        while (entered == null) {
            entered = enter(tool, tellLate)
            if (entered == null) {
                refusal()?.let { return ToolResult.failure(it) }
                delay(WAIT)
            }
        }
        try {
            val result = call()
            val uncaught = synchronized(this) { entered.uncaught }
            return if (uncaught == null || result.isError) result else Results.notAwaited(uncaught)
        } finally {
            leave(entered)
        }
    }

    /**
     * Takes note of an exception that nothing caught, such as that of `GlobalScope.launch`. With several calls in progress, nothing tells
     * which of them it belongs to.
     */
    fun uncaught(thrown: Throwable) {
        val (tell, text) = synchronized(this) {
            val ended = last
            when {
                running.size == 1 -> return running.first().let { only -> only.uncaught = only.uncaught ?: thrown }
                running.isEmpty() && ended == null -> return
                running.isEmpty() -> ended!! to "something failed after `${ended.tool}` had ended, which had started it"
                else -> running.first() to "something failed that ${running.joinToString { "`${it.tool}`" }} or an earlier tool had started"
            }
        }
        tell.tellLate(Results.late(text, thrown), tell === last)
    }

    @Synchronized
    private fun enter(tool: String, tellLate: (String, Boolean) -> Unit): Running? =
        if (running.size < limit) Running(tool, tellLate).also(running::add) else null

    @Synchronized
    private fun leave(call: Running) {
        running.remove(call)
        last = call
        isReported = false
    }

    /** Null if waiting may help. */
    @Synchronized
    private fun refusal(): String? {
        val (oldest, youngest) = (running.firstOrNull() ?: return null) to running.last()
        if (running.size < limit || youngest.since.elapsedNow() < patience) return null
        val text = "$limit calls are still running, the oldest is `${oldest.tool}`, for ${oldest.since.elapsedNow().inWholeSeconds} s"
        if (!isReported) System.err.println("$text; further calls are refused until one ends")
        isReported = true
        return text
    }

    private companion object {
        val WAIT = 20.milliseconds
    }
}
