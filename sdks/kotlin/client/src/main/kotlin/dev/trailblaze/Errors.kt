package dev.trailblaze

/**
 * Everything that this library throws about a call. It is an interface, because a failed check is an `AssertionError`,
 * as test frameworks expect, and all others are exceptions.
 */
public sealed interface TrailblazeError {
    /** What is wrong. */
    public val message: String
}

/**
 * An action was carried out and failed.
 *
 * @property variant The kind of failure, such as `MissingRequiredArgs`.
 */
public class ActionFailed @JvmOverloads constructor(
    override val message: String,
    public val variant: String = "",
) : RuntimeException(message), TrailblazeError

/**
 * A check was carried out and did not hold.
 *
 * @property variant The kind of failure.
 */
public class AssertionFailed @JvmOverloads constructor(
    override val message: String,
    public val variant: String = "AssertionFailed",
) : AssertionError(message), TrailblazeError

/**
 * The call could not be carried out.
 *
 * @property code The reason, as in Connect and gRPC.
 * @property reason What is wrong, without the code.
 */
public open class ApiError @JvmOverloads constructor(
    public val code: Code,
    public val reason: String,
    cause: Throwable? = null,
) : RuntimeException(cause), TrailblazeError {
    override val message: String get() = "$reason (${code.word})"

    /** The same error with another reason. */
    internal open fun because(reason: String): ApiError = ApiError(code, reason, cause)
}

/** The call took longer than its timeout. It may have been carried out. */
public class DeadlineExceeded @JvmOverloads constructor(
    reason: String,
    cause: Throwable? = null,
) : ApiError(Code.DEADLINE_EXCEEDED, reason, cause) {
    override fun because(reason: String): ApiError = DeadlineExceeded(reason, cause)
}

/** Trailblaze could not be reached, or the connection broke. */
public class ConnectionFailed @JvmOverloads constructor(
    reason: String,
    cause: Throwable? = null,
) : ApiError(Code.UNAVAILABLE, reason, cause) {
    override fun because(reason: String): ApiError = ConnectionFailed(reason, cause)
}

/** Trailblaze started the server, but there is nothing about Trailblaze in the request, so it did not make it. */
public class ContextError(override val message: String) : RuntimeException(message), TrailblazeError

/**
 * Why a call could not be carried out.
 *
 * @property word The code as Connect writes it.
 */
public enum class Code(public val word: String) {
    CANCELED("canceled"),
    UNKNOWN("unknown"),
    INVALID_ARGUMENT("invalid_argument"),
    DEADLINE_EXCEEDED("deadline_exceeded"),
    NOT_FOUND("not_found"),
    ALREADY_EXISTS("already_exists"),
    PERMISSION_DENIED("permission_denied"),
    RESOURCE_EXHAUSTED("resource_exhausted"),
    FAILED_PRECONDITION("failed_precondition"),
    ABORTED("aborted"),
    OUT_OF_RANGE("out_of_range"),
    UNIMPLEMENTED("unimplemented"),
    INTERNAL("internal"),
    UNAVAILABLE("unavailable"),
    DATA_LOSS("data_loss"),
    UNAUTHENTICATED("unauthenticated"),
    ;

    internal companion object {
        fun of(word: String?): Code? = entries.firstOrNull { it.word == word }
    }
}
