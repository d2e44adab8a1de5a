//! The libraries for Kotlin tools, in the version of this build: a project gets a copy of their sources, so that its tools and
//! Trailblaze use the same contract.

/// The folder of the copy in a project.
pub const FOLDER: &str = ".trailblaze/kotlin";

/// The group of the libraries in a Maven repository.
pub const GROUP: &str = "dev.trailblaze";

macro_rules! sources {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../../../sdks/kotlin/", $name)))),*]
    };
}

const SOURCES: &[(&str, &str)] = sources![
    "LICENSE",
    "README.md",
    "client/pom.xml",
    "client/src/main/kotlin/dev/trailblaze/Address.kt",
    "client/src/main/kotlin/dev/trailblaze/Blocking.kt",
    "client/src/main/kotlin/dev/trailblaze/GeneratedBlockingCommands.kt",
    "client/src/main/kotlin/dev/trailblaze/BlockingTrailblazeClient.kt",
    "client/src/main/kotlin/dev/trailblaze/Calls.kt",
    "client/src/main/kotlin/dev/trailblaze/Daemon.kt",
    "client/src/main/kotlin/dev/trailblaze/Directions.kt",
    "client/src/main/kotlin/dev/trailblaze/GeneratedEnums.kt",
    "client/src/main/kotlin/dev/trailblaze/Errors.kt",
    "client/src/main/kotlin/dev/trailblaze/Fields.kt",
    "client/src/main/kotlin/dev/trailblaze/Http.kt",
    "client/src/main/kotlin/dev/trailblaze/HttpTransport.kt",
    "client/src/main/kotlin/dev/trailblaze/JsonValues.kt",
    "client/src/main/kotlin/dev/trailblaze/Names.kt",
    "client/src/main/kotlin/dev/trailblaze/GeneratedRemote.kt",
    "client/src/main/kotlin/dev/trailblaze/Target.kt",
    "client/src/main/kotlin/dev/trailblaze/Trace.kt",
    "client/src/main/kotlin/dev/trailblaze/TrailblazeClient.kt",
    "client/src/main/kotlin/dev/trailblaze/GeneratedCommands.kt",
    "client/src/main/kotlin/dev/trailblaze/TrailblazeDevicePlatform.kt",
    "client/src/main/kotlin/dev/trailblaze/messages/GeneratedMessages.kt",
    "client/src/main/kotlin/dev/trailblaze/testing/GeneratedTools.kt",
    "client/src/main/kotlin/dev/trailblaze/testing/FakeDevice.kt",
    "pom.xml",
    "tools/pom.xml",
    "tools/src/main/kotlin/dev/trailblaze/tools/Annotations.kt",
    "tools/src/main/kotlin/dev/trailblaze/tools/Arguments.kt",
    "tools/src/main/kotlin/dev/trailblaze/tools/ConnectedNotices.kt",
    "tools/src/main/kotlin/dev/trailblaze/tools/DefinedTool.kt",
    "tools/src/main/kotlin/dev/trailblaze/tools/Described.kt",
    "tools/src/main/kotlin/dev/trailblaze/tools/Envelope.kt",
    "tools/src/main/kotlin/dev/trailblaze/tools/Listing.kt",
    "tools/src/main/kotlin/dev/trailblaze/tools/Results.kt",
    "tools/src/main/kotlin/dev/trailblaze/tools/RunningCalls.kt",
    "tools/src/main/kotlin/dev/trailblaze/tools/RunningThread.kt",
    "tools/src/main/kotlin/dev/trailblaze/tools/Schema.kt",
    "tools/src/main/kotlin/dev/trailblaze/tools/ServerArguments.kt",
    "tools/src/main/kotlin/dev/trailblaze/tools/Serving.kt",
    "tools/src/main/kotlin/dev/trailblaze/tools/SourceLine.kt",
    "tools/src/main/kotlin/dev/trailblaze/tools/ToolMemory.kt",
    "tools/src/main/kotlin/dev/trailblaze/tools/ToolMetadata.kt",
    "tools/src/main/kotlin/dev/trailblaze/tools/ToolResult.kt",
    "tools/src/main/kotlin/dev/trailblaze/tools/ToolServer.kt",
    "tools/src/main/kotlin/dev/trailblaze/tools/ToolSet.kt",
    "tools/src/main/kotlin/dev/trailblaze/tools/TrailblazeContext.kt",
    "tools/src/main/kotlin/dev/trailblaze/tools/TrailblazeTool.kt",
    "tools/src/main/kotlin/dev/trailblaze/tools/Validation.kt",
];

/// All files of the copy, by their paths in the project.
pub fn files() -> impl Iterator<Item = (String, &'static str)> {
    SOURCES.iter().map(|(path, text)| (format!("{FOLDER}/{path}"), *text))
}

/// Installs the libraries where Maven finds them.
pub fn install_command() -> String {
    format!("mvn -q -f {FOLDER} install -Dmaven.test.skip=true")
}
