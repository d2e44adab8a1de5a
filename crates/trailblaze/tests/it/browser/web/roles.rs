//! What the walker makes of a page, held against what Chromium itself makes of it: roles and names of every element that has
//! an id. `benches/web/axtree.mjs` writes down Chromium's view.

use std::collections::HashMap;

use serde_json::Value;

use crate::browser::web::shop::Shop;

/// Where we differ, and why.
const KNOWN: [(&str, &str); 17] = [
    ("date", "a field to fill, whatever it opens"),
    ("time", "a field to fill, whatever it opens"),
    ("color", "a field to fill, whatever it opens"),
    ("bareEditable", "somebody can type there"),
    ("optgroup", "a list tells its choices in one line"),
    ("optionOn", "a list tells its choices in one line"),
    ("optionOff", "a list tells its choices in one line"),
    ("optionDisabled", "a list tells its choices in one line"),
    ("dl", "a list, as any other"),
    ("articleHeader", "says no more than its text"),
    ("articleFooter", "says no more than its text"),
    ("figcaption", "says no more than its text"),
    ("summary", "a button to whoever presses it"),
    ("summaryOpen", "a button to whoever presses it"),
    ("object", "nothing is known of what is in it"),
    ("clipped", "nobody can see it"),
    ("frame", "our name for the same"),
];

#[test]
fn roles_and_names_are_those_that_chromium_computes() {
    let Some(shop) = Shop::open("") else { return };
    shop.project.write("roles.html", include_str!("roles.html"));
    let address = format!("file://{}/roles.html", shop.project.root().display());
    let command = shop.command(&["snapshot", "-d", "web/chromium", "--json", "--launch", &address]);
    let seen = shop.project.finish(command).exits(0).json();
    let text = |element: &Value, key: &str| element[key].as_str().unwrap_or_default().to_string();
    let own: HashMap<String, (String, String)> = seen["elements"]
        .as_array()
        .expect("elements")
        .iter()
        .filter_map(|element| {
            let id = element["id"].as_str()?.to_string();
            let name = element["label"].as_str().map_or_else(|| text(element, "text"), str::to_string);
            Some((id, (text(element, "role"), name)))
        })
        .collect();
    let theirs: Vec<(String, Value)> = serde_json::from_str(include_str!("roles.ax.json")).expect("Chromium's view");
    let mut differences = Vec::new();
    let mut compared = 0;
    for (id, node) in &theirs {
        if KNOWN.iter().any(|(known, _)| known == id) || node.is_null() {
            continue;
        }
        let (role, name) = (text(node, "role").replace("image", "img"), text(node, "name"));
        let is_silent = ["generic", "LabelText", "none", "LineBreak"].contains(&role.as_str());
        match own.get(id) {
            None if is_silent => {}
            None => differences.push(format!("{id}: {role} \"{name}\" is missing")),
            // What has no name of its own goes by its words here.
            Some((own_role, own_name)) => {
                compared += 1;
                if *own_role != role || !name.is_empty() && *own_name != name {
                    differences.push(format!("{id}: {own_role} \"{own_name}\", but {role} \"{name}\" to Chromium"));
                }
            }
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    assert!(compared > 150, "only {compared} elements were compared");
}
