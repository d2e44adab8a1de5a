//! `trails/config/trailblaze.yaml`.

use serde_json::{Value, json};
use trailblaze_core::yaml::loose;

use super::KotlinProject;
use crate::{ForeignFile, StatementFate};

impl KotlinProject<'_> {
    pub(super) fn project_settings(&mut self, file: &ForeignFile) {
        let Some(root) = self.read(file) else { return };
        for (key, value) in root.entries().unwrap_or_default() {
            match key.raw().unwrap_or_default() {
                "defaults" => {
                    for (key, value) in value.entries().unwrap_or_default() {
                        let name = key.raw().unwrap_or_default();
                        let fate = match (name, value.raw()) {
                            ("target", Some("default")) => {
                                StatementFate::Partly("there is no target `default`".to_string())
                            }
                            ("target", Some(target)) => {
                                self.settings.insert("target".to_string(), target.into());
                                StatementFate::Translated
                            }
                            ("llm", Some(model)) => {
                                self.llm()["defaults"] = json!({"model": model});
                                StatementFate::Translated
                            }
                            ("max-llm-calls", Some(n)) => {
                                StatementFate::Kept(format!("use `trailblaze run --model-budget calls={n}`"))
                            }
                            (other, _) => StatementFate::Kept(format!("there is no setting `{other}`")),
                        };
                        self.note(file, key, &format!("defaults.{name}"), fate);
                    }
                }
                "llm" => {
                    for (key, value) in value.entries().unwrap_or_default() {
                        let name = key.raw().unwrap_or_default().to_string();
                        let fate = match name.as_str() {
                            "providers" => {
                                self.llm()["providers"] = loose(value);
                                StatementFate::Translated
                            }
                            "defaults" => match value.get("model").and_then(|model| model.raw()) {
                                Some(model) => {
                                    self.llm()["defaults"] = json!({"model": model});
                                    StatementFate::Translated
                                }
                                None => StatementFate::Kept("only the model can be set here".to_string()),
                            },
                            other => StatementFate::Kept(format!("there is no setting `{other}`")),
                        };
                        self.note(file, key, &format!("llm.{name}"), fate);
                    }
                }
                // All targets, toolsets and tools of a project are found by their folders.
                name @ ("targets" | "toolsets" | "tools") => self.note(file, key, name, StatementFate::Translated),
                other => {
                    let reason = format!("there is no setting `{other}`");
                    self.note(file, key, other, StatementFate::Kept(reason));
                }
            }
        }
    }

    fn llm(&mut self) -> &mut Value {
        self.settings.entry("llm").or_insert_with(|| json!({}))
    }
}
