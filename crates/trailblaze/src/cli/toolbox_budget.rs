//! `trailblaze toolbox budget`: what the offered tools cost the model that receives them with every request.

use std::collections::BTreeMap;

use clap::Args;
use serde_json::{Value, json};
use trailblaze_core::callers::agent::offer;
use trailblaze_core::engine::registry::{Offer, Registry};
use trailblaze_protocol::exit::Exit;

use super::device::DeviceArgs;
use crate::kit::cost::{self, ToolCost};
use crate::output::print;
use crate::project::devices::DeviceSpec;

/// Show what each tool, source and toolset costs a model, in tokens
#[derive(Args)]
pub struct BudgetArgs {
    /// Exit with code 1 if the tools of a device cost more tokens than this
    #[arg(long, value_name = "TOKENS")]
    max: Option<usize>,
    #[command(flatten)]
    pub devices: DeviceArgs,
}

/// The cost of the tools offered on one device.
struct ToolboxBudget<'r> {
    /// The most expensive first.
    tools: Vec<(&'r str, ToolCost)>,
    sources: Vec<(String, ToolCost)>,
    /// A tool in two of them counts in both.
    toolsets: Vec<(String, ToolCost)>,
    total: ToolCost,
}

pub fn budget(registries: &[(DeviceSpec, Registry)], args: &BudgetArgs, as_json: bool) -> Exit {
    let mut exit = Exit::Passed;
    let mut answers = Vec::new();
    for (device, registry) in registries {
        let budget = ToolboxBudget::of(registry);
        let is_over = args.max.is_some_and(|max| budget.total.tokens > max);
        if is_over {
            exit = Exit::Failed;
        }
        if as_json {
            answers.push(json!({
                "device": device.id, "method": cost::METHOD, "max": args.max, "isOver": is_over, "total": budget.total,
                "toolsets": named(&budget.toolsets), "sources": named(&budget.sources), "tools": named(&budget.tools),
            }));
            continue;
        }
        budget.show(device);
        if let Some(max) = args.max.filter(|_| is_over) {
            let (id, tokens) = (&device.id, budget.total.tokens);
            print::error(format!("the tools of {id} cost about {tokens} tokens; at most {max} are allowed"));
            print::hint("reduce it with `isForLlm: false`, a target's `tool_sets:` or shorter descriptions");
        }
    }
    match as_json {
        true => print::json(&answers),
        false => print::say(format!("counted: {}", cost::METHOD)),
    }
    exit
}

impl<'r> ToolboxBudget<'r> {
    fn of(registry: &'r Registry) -> ToolboxBudget<'r> {
        let costs: Vec<(&str, &str, ToolCost)> = offer::offered(registry, &Offer::default())
            .iter()
            .filter_map(|tool| registry.get(&tool.name))
            .map(|tool| (tool.name.as_str(), &*tool.contributor.label, cost::of(tool)))
            .collect();
        let mut sources: BTreeMap<String, Vec<ToolCost>> = BTreeMap::new();
        for (_, source, cost) in &costs {
            sources.entry(source.to_string()).or_default().push(*cost);
        }
        let toolsets = registry.toolsets.iter().map(|(id, toolset)| {
            let inside = costs.iter().filter(|(name, ..)| toolset.tools.contains(*name));
            (id.clone(), inside.map(|(.., cost)| *cost).sum::<ToolCost>())
        });
        ToolboxBudget {
            toolsets: dearest_first(toolsets.filter(|(_, cost)| cost.tools > 0)),
            sources: dearest_first(sources.into_iter().map(|(source, costs)| (source, costs.into_iter().sum()))),
            total: costs.iter().map(|(.., cost)| *cost).sum(),
            tools: dearest_first(costs.into_iter().map(|(name, _, cost)| (name, cost))),
        }
    }

    fn show(&self, device: &DeviceSpec) {
        let ToolCost { tools, tokens, .. } = self.total;
        print::data(format!("# {}: {}, about {tokens} tokens", device.id, print::count(tools, "tool")));
        rows("toolsets", &self.toolsets);
        rows("sources", &self.sources);
        rows("tools", &self.tools);
        print::data("");
    }
}

fn rows(title: &str, costs: &[(impl AsRef<str>, ToolCost)]) {
    if costs.is_empty() {
        return;
    }
    print::data(format!("\n## {title}"));
    for (name, cost) in costs {
        print::data(format!("{:>6}  {}", cost.tokens, name.as_ref()));
    }
}

fn dearest_first<N: Ord>(costs: impl Iterator<Item = (N, ToolCost)>) -> Vec<(N, ToolCost)> {
    let mut costs: Vec<(N, ToolCost)> = costs.collect();
    costs.sort_by(|(a, one), (b, other)| other.tokens.cmp(&one.tokens).then(a.cmp(b)));
    costs
}

fn named(costs: &[(impl AsRef<str>, ToolCost)]) -> Vec<Value> {
    let row = |name: &str, cost: &ToolCost| json!({"name": name, "tools": cost.tools, "characters": cost.characters, "tokens": cost.tokens});
    costs.iter().map(|(name, cost)| row(name.as_ref(), cost)).collect()
}
