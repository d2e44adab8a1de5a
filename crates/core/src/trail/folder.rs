//! `_folder.yaml`: what is done before and after each trail of a folder and of the folders in it.

use std::sync::Arc;

use serde_json::{Value, json};

use super::items::HookItems;
use super::{Hook, Trail, hooks};
use crate::yaml::decode_root;
use crate::yaml::{Decode, Problem, Problems, Source, read};

/// The name of the file in a folder of trails.
pub const FOLDER_FILE: &str = "_folder.yaml";

crate::table! {
    /// What the trails of a folder share.
    pub struct FolderDocument {
        /// What is done before each trail: steps with `tools`.
        "before" => before: HookItems = HookItems::default(),
        /// What is done after each trail, however it ended: steps with `tools`.
        "after" => after: HookItems = HookItems::default(),
    }
}

/// What the trails of a folder share.
#[derive(Debug, Clone)]
pub struct TrailFolder {
    pub before: Vec<Hook>,
    pub after: Vec<Hook>,
}

impl TrailFolder {
    /// Reads the file of a folder, as far as that is possible.
    pub fn read(source: &Arc<Source>) -> (Option<TrailFolder>, Vec<Problem>) {
        let mut problems = Problems::new(source);
        let root = read(source, &mut problems);
        let document: Option<FolderDocument> = decode_root(root.as_ref(), &mut problems);
        let folder = document.map(|document| TrailFolder {
            before: hooks(document.before, &mut problems),
            after: hooks(document.after, &mut problems),
        });
        (folder, problems.into_vec())
    }

    pub fn schema() -> Value {
        let mut schema = FolderDocument::schema();
        schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
        schema["title"] = json!("Trailblaze folder of trails");
        schema
    }
}

impl Trail {
    /// Adds what its folders do before and after it, given the outermost folder first. Folders are left in the opposite order.
    pub fn enter(&mut self, folders: &[Arc<TrailFolder>]) -> Vec<Problem> {
        let own = std::mem::take(&mut self.before);
        self.before = folders.iter().flat_map(|folder| folder.before.clone()).chain(own).collect();
        self.after.extend(folders.iter().rev().flat_map(|folder| folder.after.clone()));
        let mut found = Vec::new();
        let roles = &self.config.devices.roles.0;
        for hook in self.before.iter_mut().chain(&mut self.after).filter(|hook| hook.source.path != self.source.path) {
            // The steps of a stretch may say it themselves.
            if hook.step.stretch.is_none() || hook.step.on.is_some() {
                let mut problems = Problems::new(&hook.source);
                super::assign_role(&mut hook.step, roles, &mut problems);
                found.extend(problems.into_vec());
            }
        }
        found
    }
}
