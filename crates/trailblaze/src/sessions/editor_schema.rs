//! Keeps the schema of trails that a project's editor uses up to date with the project's tools.

use std::path::PathBuf;
use std::sync::Arc;

use super::host::SessionHost;
use super::wiring::Wiring;
use crate::files::write_in_project;
use crate::project::loaded::Loaded;
use crate::project::trail_schema;
use crate::servers::tool_servers::ServerMode;

/// Writes the schema again if its file is there and out of date. Starts no servers: their tools are those that they listed when they
/// last ran. A server whose tools are not known would lose them, so nothing is written then. Returns the file if it was written.
pub async fn refresh(loaded: &Arc<Loaded>, host: &SessionHost) -> Option<PathBuf> {
    let file = loaded.root.join(trail_schema::FILE);
    let current = std::fs::read_to_string(&file).ok()?;
    let mut wiring = Wiring::new(loaded, host, None);
    wiring.servers = wiring.tool_servers(ServerMode::Remember).into();
    let target = wiring.target.clone();
    let mut registries = Vec::new();
    let mut is_whole = true;
    for device in loaded.all_devices().ok()? {
        match wiring.prepare_whole(&device, target.as_deref()).await {
            Ok(prepared) => {
                is_whole &= prepared.unknown_servers.is_empty();
                registries.push(prepared.discard().await);
            }
            Err(_) => is_whole = false,
        }
    }
    wiring.close().await;
    let tools = registries.iter().flat_map(|registry| registry.tools()).map(AsRef::as_ref);
    let text = trail_schema::text(&trail_schema::trail_schema(tools));
    (is_whole && text != current && write_in_project(&loaded.root, &file, &text).is_ok()).then_some(file)
}
