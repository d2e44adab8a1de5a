package dev.trailblaze.tools

/** A class with tools: its functions that have the annotation [Tool]. */
public interface ToolSet

/** A [ToolSet] whose tools may have a parameter of the type [TrailblazeContext]. */
public interface TrailblazeToolSet : ToolSet

/**
 * The metadata of tools. A toolset that has it, often by delegation to an object, adds it to the registry of its server.
 *
 *     class AcmeTools : TrailblazeToolSet, HasRegistry by AcmeRegistry
 *
 * A toolset with a public property `registry` of this type counts too, so that an interface of your own with the same property works.
 */
public interface HasRegistry {
    /** The metadata, by the name of the tool. */
    public val registry: Map<String, ToolMetadata>

    /** The groups that the tools belong to, by name. */
    public val groups: Map<String, GroupInfo>
        get() = emptyMap()
}

/** How the commands of a [TrailblazeContext] reach the device. */
public enum class ExecutionMode {
    /** A `TrailblazeCommands` was passed in, such as a fake device in a unit test. */
    IN_PROCESS,

    /** Over the typed API, with the id of the call. */
    RPC,
}
