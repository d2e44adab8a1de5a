//! The resources: the registry of tools, trails, reports and pictures.

use std::path::{Component, Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rmcp::model::{CacheScope, ReadResourceResult, Resource, ResourceContents, ResourceTemplate};
use serde_json::{Map, Value, json};
use trailblaze_core::trail::is_trail;

use super::answer::McpCallError;
use super::calls::McpRequest;
use super::{Offering, flat, tools};
use crate::sessions::service::{EditRequest, Edited, ReportRequest, ServiceAnswer, ServiceRequest};

const REGISTRY: &str = "trailblaze://registry";
const TRAILS: &str = "trailblaze://trails/";
const REPORTS: &str = "trailblaze://reports/";
const PICTURES: &str = "trailblaze://pictures/";

const JSON: &str = "application/json";
const YAML: &str = "application/yaml";

/// How many of the latest reports are listed.
const REPORTS_LISTED: usize = 20;
/// The largest picture, in bytes.
const PICTURE_BYTES: u64 = 8 << 20;
/// How long clients may keep a picture, which is named by its content, in milliseconds.
const PICTURE_MS: u64 = 3_600_000;

pub fn templates() -> Vec<ResourceTemplate> {
    let template = |uri: &str, name: &str, about: &str, mime: &str| {
        ResourceTemplate::new(uri, name).with_description(about).with_mime_type(mime)
    };
    vec![
        template("trailblaze://trails/{+path}", "trail", "A trail, by its path in the project.", YAML),
        template("trailblaze://reports/{run}", "report", "The summary of a run.", JSON),
        template("trailblaze://pictures/{run}/{+file}", "picture", "A picture of a report.", "image/png"),
    ]
}

/// The registry, all trails, and the latest reports. What cannot be listed is left out.
pub async fn list(client: &McpRequest<'_>) -> Vec<Resource> {
    let about = "All tools that can be called, with their sources, and the groups.";
    let mut listed = vec![Resource::new(REGISTRY, "registry").with_description(about).with_mime_type(JSON)];
    let Ok(place) = client.place(None).await else { return listed };
    let root = place.project.clone().unwrap_or_else(|| place.current_dir.clone());
    if let Ok(ServiceAnswer::Trail(Edited::List(trails))) =
        client.request(ServiceRequest::Edit(EditRequest { client: place, ..EditRequest::default() })).await
    {
        let mut paths: Vec<(&str, Option<&str>)> =
            trails.iter().filter_map(|trail| Some((trail["path"].as_str()?, trail["title"].as_str()))).collect();
        paths.sort_unstable();
        listed.extend(paths.into_iter().map(|(path, title)| {
            let resource = Resource::new(format!("{TRAILS}{}", encoded(path)), path).with_mime_type(YAML);
            title.map_or_else(|| resource.clone(), |title| resource.clone().with_title(title))
        }));
    }
    let mut runs: Vec<String> = std::fs::read_dir(root.join("logs"))
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|folder| folder.join("summary.json").is_file())
        .filter_map(|folder| Some(folder.file_name()?.to_str()?.to_string()))
        .collect();
    // Names begin with the time.
    runs.sort_unstable_by(|one, other| other.cmp(one));
    runs.truncate(REPORTS_LISTED);
    listed.extend(runs.into_iter().map(|run| {
        Resource::new(format!("{REPORTS}{}", encoded(&run)), format!("report of run {run}")).with_mime_type(JSON)
    }));
    listed
}

pub async fn read(client: &McpRequest<'_>, uri: &str) -> Result<ReadResourceResult, McpCallError> {
    let not_found = || McpCallError::failed(format!("no resource `{uri}`"));
    let (contents, ttl) = if uri == REGISTRY {
        let registry = registry(client).await?;
        (ResourceContents::text(registry.to_string(), uri).with_mime_type(JSON), 0)
    } else if let Some(path) = uri.strip_prefix(TRAILS) {
        let path = relative(path).filter(|path| is_trail(path)).ok_or_else(not_found)?;
        let request = EditRequest { client: client.place(None).await?, path: Some(path), ..EditRequest::default() };
        match client.request(ServiceRequest::Edit(request)).await? {
            ServiceAnswer::Trail(Edited::Text { text, .. }) => {
                (ResourceContents::text(text, uri).with_mime_type(YAML), 0)
            }
            other => return Err(McpCallError::unexpected(&other)),
        }
    } else if let Some(run) = uri.strip_prefix(REPORTS) {
        let run = relative(run).filter(|run| run.components().count() == 1).ok_or_else(not_found)?;
        let run = Some(run.to_string_lossy().into_owned());
        let request = ReportRequest { client: client.place(None).await?, run };
        match client.request(ServiceRequest::Report(request)).await? {
            ServiceAnswer::Report(summary) => {
                (ResourceContents::text(summary.to_string(), uri).with_mime_type(JSON), 0)
            }
            other => return Err(McpCallError::unexpected(&other)),
        }
    } else if let Some(path) = uri.strip_prefix(PICTURES) {
        let place = client.place(None).await?;
        let root = place.project.unwrap_or(place.current_dir);
        let path = relative(path).ok_or_else(not_found)?;
        let (bytes, mime) = picture(&root.join("logs"), &path).ok_or_else(not_found)?;
        (ResourceContents::blob(STANDARD.encode(bytes), uri).with_mime_type(mime), PICTURE_MS)
    } else {
        return Err(not_found());
    };
    Ok(ReadResourceResult::new(vec![contents]).with_ttl_ms(ttl).with_cache_scope(CacheScope::Private))
}

/// The tools by name: all that can be called, whether models are offered them or not, and those of this server.
async fn registry(client: &McpRequest<'_>) -> Result<Value, McpCallError> {
    let catalog = flat::catalog(client).await?;
    let entry = |tool: &Value| {
        let name = tool["name"].as_str()?.to_string();
        let mut entry = tool.as_object()?.clone();
        entry.shift_remove("name");
        entry.shift_remove("inputSchema");
        Some((name, Value::Object(entry)))
    };
    let registered = catalog["tools"].as_array().into_iter().flatten();
    let mut named: Map<String, Value> = registered.filter_map(entry).collect();
    if client.server.options.offering == Offering::Flat {
        for tool in flat::list(client).await? {
            let own = json!({"description": tool.description, "source": "trailblaze", "exposedToLlm": true});
            named.entry(&*tool.name).or_insert(own);
        }
    } else {
        for tool in tools::standard() {
            named.entry(&*tool.name).or_insert_with(
                || json!({"description": tool.description, "source": "trailblaze", "exposedToLlm": true}),
            );
        }
    }
    named.sort_keys();
    let about = json!({"name": "trailblaze", "version": env!("CARGO_PKG_VERSION")});
    Ok(json!({"tools": named, "groups": catalog["groups"], "serverInfo": about}))
}

/// A picture in a run folder, and nothing outside it.
fn picture(logs: &Path, path: &Path) -> Option<(Vec<u8>, &'static str)> {
    let mime = match path.extension()?.to_str()? {
        "png" => "image/png",
        "webp" => "image/webp",
        "jpg" | "jpeg" => "image/jpeg",
        _ => return None,
    };
    let run = path.components().next().filter(|_| path.components().count() > 1)?;
    // Links are followed, so that one cannot lead out of the folder.
    let folder = logs.join(run).canonicalize().ok()?;
    let file = logs.join(path).canonicalize().ok()?;
    let is_inside = file.starts_with(&folder) && folder.starts_with(logs.canonicalize().ok()?);
    let size = std::fs::metadata(&file).ok()?;
    (is_inside && size.is_file() && size.len() <= PICTURE_BYTES)
        .then(|| std::fs::read(&file).ok())
        .flatten()
        .map(|bytes| (bytes, mime))
}

/// The path in a URI, if it leads downward only.
fn relative(encoded: &str) -> Option<PathBuf> {
    let path = PathBuf::from(decoded(encoded)?);
    let is_plain = path.components().all(|part| matches!(part, Component::Normal(_)));
    (is_plain && path.components().next().is_some()).then_some(path)
}

fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = match first {
            b'%' => {
                let digits = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok())?;
                bytes.push(u8::from_str_radix(digits, 16).ok()?);
                &after[2..]
            }
            byte => {
                bytes.push(*byte);
                after
            }
        };
    }
    String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'))
}

fn encoded(path: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
    path.bytes()
        .map(|byte| if is_plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_in_uris_lead_downward() {
        assert_eq!(relative("shop/check%20out.trail.yaml"), Some(PathBuf::from("shop/check out.trail.yaml")));
        for wrong in ["", "/etc/passwd", "../x", "a/../../x", "%2e%2e/x", "a%00b", "a%zz", "%2Fetc/passwd", "a%"] {
            assert_eq!(relative(wrong), None, "{wrong}");
        }
        assert_eq!(encoded("shop/check out ä.trail.yaml"), "shop/check%20out%20%C3%A4.trail.yaml");
        assert_eq!(decoded(&encoded("ä b%")), Some("ä b%".to_string()));
    }

    #[test]
    fn a_picture_is_read_only_from_its_run() {
        let folder = tempfile::tempdir().expect("a folder");
        let logs = folder.path().join("logs");
        std::fs::create_dir_all(logs.join("one/pictures")).expect("a run");
        std::fs::write(logs.join("one/pictures/a.png"), "picture").expect("a picture");
        std::fs::write(logs.join("loose.png"), "no").expect("a file");
        std::fs::write(folder.path().join("secret.png"), "no").expect("a file");
        std::os::unix::fs::symlink(folder.path().join("secret.png"), logs.join("one/link.png")).expect("a link");
        std::os::unix::fs::symlink(folder.path(), logs.join("two")).expect("a link");
        let read = |path: &str| picture(&logs, Path::new(path)).map(|(bytes, mime)| (bytes.len(), mime));
        assert_eq!(read("one/pictures/a.png"), Some((7, "image/png")));
        for wrong in ["loose.png", "one/link.png", "two/secret.png", "one/none.png", "one/pictures", "one/a.yaml"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
