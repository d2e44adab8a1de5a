package dev.trailblaze.tools

import kotlinx.coroutines.ThreadContextElement
import kotlin.coroutines.AbstractCoroutineContextElement
import kotlin.coroutines.CoroutineContext

/** Knows which thread runs a coroutine, while one does: it may be in a loop that never ends, or block. */
internal class RunningThread : AbstractCoroutineContextElement(RunningThread), ThreadContextElement<Thread?> {
    @Volatile
    private var thread: Thread? = null

    /** The line of the author's code that the thread is at, such as `AcmeTools.kt:42`. */
    fun place(): String? = thread?.let { SourceLine.of(it.stackTrace) }

    /** Whether this is the thread. */
    fun isCurrent(): Boolean = thread === Thread.currentThread()

    override fun updateThreadContext(context: CoroutineContext): Thread? {
        val former = thread
        thread = Thread.currentThread()
        return former
    }

    override fun restoreThreadContext(context: CoroutineContext, oldState: Thread?) {
        thread = oldState
    }

    companion object Key : CoroutineContext.Key<RunningThread>
}
