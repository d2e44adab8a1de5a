package dev.trailblaze

import java.time.Duration
import kotlin.time.toKotlinDuration

/** [TrailblazeClient] for callers that block, such as Java's. */
public class BlockingTrailblazeClient(client: TrailblazeClient) : BlockingCommands(client) {
    /**
     * Creates a client. Without arguments, it uses the session of this user's daemon that TRAILBLAZE_SESSION names, or the
     * only one that is open.
     *
     * @param address Where Trailblaze listens, such as `localhost:52525`.
     * @param key The key of a session, as in the key file of `trailblaze serve`.
     * @param timeout How long a call may take (default: 630 seconds).
     */
    @JvmOverloads
    public constructor(address: String? = null, key: String? = null, timeout: Duration? = null) :
        this(TrailblazeClient(address, key = key, timeout = timeout?.toKotlinDuration()))
}
