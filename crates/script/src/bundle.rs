//! A bundle: a linked program in one file, which runs without its sources and packages.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::program::Program;

/// How the names of bundles end.
pub const ENDING: &str = ".bundle.json";
/// The version of the format. Another one cannot be read.
pub const FORMAT: u32 = 1;
/// The largest bundle, in bytes.
pub const BUNDLE_BYTES: u64 = 64 << 20;

#[derive(Serialize, Deserialize)]
struct Bundle<P> {
    /// The version of the format.
    #[serde(rename = "trailblazeBundle")]
    format: u32,
    /// The version of Trailblaze that wrote it.
    version: String,
    program: P,
}

/// What every version of the format has.
#[derive(Deserialize)]
struct Head {
    #[serde(rename = "trailblazeBundle")]
    format: Option<u32>,
    version: Option<String>,
}

#[derive(Debug, thiserror::Error)]
pub enum BundleError {
    #[error("it cannot be read: {0}")]
    Io(#[from] std::io::Error),
    #[error("it has {0} bytes; the limit is {BUNDLE_BYTES}")]
    TooLarge(u64),
    #[error("it is not a bundle of tools: {0}")]
    NoBundle(String),
    #[error(
        "it is a bundle in format {format}, written by Trailblaze {version}; this is Trailblaze {ours}, which reads format {FORMAT}; write it again with `trailblaze tool bundle`"
    )]
    OtherFormat { format: u32, version: String, ours: String },
}

/// Whether a file is a bundle, judging by its name.
pub fn is_bundle(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().ends_with(ENDING))
}

/// A program as a bundle. `version` is that of Trailblaze.
pub fn write(program: &Program, version: &str) -> String {
    let bundle = Bundle { format: FORMAT, version: version.to_string(), program };
    // A program is made of texts and numbers, which JSON can write.
    serde_json::to_string(&bundle).unwrap_or_default()
}

/// Reads a bundle. `version` is that of Trailblaze.
pub fn read(path: &Path, version: &str) -> Result<Program, BundleError> {
    let metadata = std::fs::metadata(path)?;
    if metadata.len() > BUNDLE_BYTES {
        return Err(BundleError::TooLarge(metadata.len()));
    }
    parse(&std::fs::read_to_string(path)?, version)
}

fn parse(text: &str, version: &str) -> Result<Program, BundleError> {
    let no_bundle = |error: serde_json::Error| BundleError::NoBundle(error.to_string());
    let head: Head = serde_json::from_str(text).map_err(no_bundle)?;
    match head.format {
        Some(FORMAT) => {}
        Some(format) => {
            let (version, ours) = (head.version.unwrap_or_default(), version.to_string());
            return Err(BundleError::OtherFormat { format, version, ours });
        }
        None => return Err(BundleError::NoBundle("it has no `trailblazeBundle`".to_string())),
    }
    let bundle: Bundle<Program> = serde_json::from_str(text).map_err(no_bundle)?;
    if bundle.program.code(bundle.program.entry()).is_none() {
        return Err(BundleError::NoBundle(format!("it has no module `{}`", bundle.program.entry())));
    }
    Ok(bundle.program)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bundle_reads_back_the_same_and_others_are_refused() {
        let program = Program::single("a.ts", "return 1 as number", None).expect("valid");
        let text = write(&program, "1.2.3");
        assert_eq!(parse(&text, "1.2.3").expect("valid"), program);
        let refusal = |text: &str| parse(text, "1.2.3").expect_err("refused").to_string();
        let newer = text.replace("\"trailblazeBundle\":1", "\"trailblazeBundle\":9");
        assert_eq!(
            refusal(&newer),
            "it is a bundle in format 9, written by Trailblaze 1.2.3; this is Trailblaze 1.2.3, which reads format 1; \
             write it again with `trailblaze tool bundle`"
        );
        assert_eq!(refusal("{}"), "it is not a bundle of tools: it has no `trailblazeBundle`");
        let headless = r#"{"trailblazeBundle": 1, "version": "", "program": {"entry": "b", "modules": {}}}"#;
        assert_eq!(refusal(headless), "it is not a bundle of tools: it has no module `b`");
        for broken in
            ["", "[]", "null", "{\"trailblazeBundle\": 1}", "{\"trailblazeBundle\": -1}", &text[..text.len() / 2]]
        {
            assert!(refusal(broken).starts_with("it is not a bundle of tools: "), "{broken}");
        }
    }
}
