package dev.trailblaze

/** The platform of a device. */
public enum class TrailblazeDevicePlatform(
    /** The platform as Trailblaze writes it; empty for [UNKNOWN]. */
    public val word: String,
) {
    ANDROID("android"),
    IOS("ios"),
    WEB("web"),
    DESKTOP("desktop"),

    /** Not known to the client, or a platform that is newer than it. `getSession()` tells the name. */
    UNKNOWN(""),
    ;

    public companion object {
        /** The platform with this name, in upper or lower case; [UNKNOWN] if there is none. */
        @JvmStatic
        public fun of(word: String?): TrailblazeDevicePlatform =
            entries.firstOrNull { it != UNKNOWN && it.word.equals(word, ignoreCase = true) } ?: UNKNOWN
    }
}
