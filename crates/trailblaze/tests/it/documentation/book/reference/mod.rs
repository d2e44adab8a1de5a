//! The pages of docs/reference, made from the tables of the program: `UPDATE_REFERENCE=1 cargo test -p trailblaze --test it
//! the_reference` writes them again.

mod commands;
mod events;
mod exit_codes;
mod keys;
mod selectors;
mod tools;

use crate::support::repository;

#[test]
fn the_reference_is_fresh() {
    let pages = [
        ("commands", commands::page()),
        ("configuration-keys", keys::page()),
        ("tools", tools::page()),
        ("selectors", selectors::page()),
        ("exit-codes", exit_codes::page()),
        ("events", events::page()),
    ];
    for (name, page) in pages {
        let file = repository().join(format!("docs/reference/{name}.md"));
        if std::env::var_os("UPDATE_REFERENCE").is_some() {
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(&file, &page).unwrap();
        }
        let committed = std::fs::read_to_string(&file).unwrap_or_default();
        assert!(committed == page, "docs/reference/{name}.md is out of date; UPDATE_REFERENCE=1 writes it again");
    }
}

/// A text in a cell of a table.
fn cell(text: &str) -> String {
    outside_of_code(&text.split_whitespace().collect::<Vec<_>>().join(" ")).replace('|', "\\|")
}

/// Angle brackets outside of code would be HTML.
fn outside_of_code(text: &str) -> String {
    let parts = text.split('`').enumerate().map(|(index, part)| match index % 2 {
        0 => part.replace('<', "&lt;"),
        _ => part.to_string(),
    });
    parts.collect::<Vec<_>>().join("`")
}

/// Paragraphs with lines of the usual length.
fn prose(text: &str) -> String {
    let mut out = String::new();
    let mut width = 0;
    for word in outside_of_code(text).split_whitespace() {
        if width > 0 && width + word.chars().count() >= 130 {
            out.push('\n');
            width = 0;
        } else if width > 0 {
            out.push(' ');
        }
        out.push_str(word);
        width += word.chars().count() + 1;
    }
    out
}
