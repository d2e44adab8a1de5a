package dev.trailblaze

import kotlin.coroutines.intrinsics.suspendCoroutineUninterceptedOrReturn
import kotlin.coroutines.jvm.internal.CoroutineStackFrame

/**
 * Adds the caller's frames to what a call throws. A call that has waited continues on another stack, so that its errors would
 * not tell which line of a tool made it.
 */
internal suspend inline fun <T> traced(call: () -> T): T {
    val caller = callerFrame()
    try {
        return call()
    } catch (problem: Throwable) {
        if (problem is TrailblazeError) addFrames(problem, caller)
        throw problem
    }
}

internal suspend fun callerFrame(): CoroutineStackFrame? =
    suspendCoroutineUninterceptedOrReturn { continuation -> continuation as? CoroutineStackFrame }

internal fun addFrames(problem: Throwable, caller: CoroutineStackFrame?) {
    val trace = problem.stackTrace
    val frames = generateSequence(caller) { it.callerFrame }.mapNotNull { it.getStackTraceElement() }
    // A call that has not waited has them already.
    val missing = frames.filter { frame -> trace.none { it.className == frame.className && it.methodName == frame.methodName } }
    problem.stackTrace = trace + missing.toList()
}
