//! Names of files, tools and values that are made of other names.

/// A name for a file: `Sign in & pay` becomes `sign-in-pay`.
pub fn file_stem(text: &str) -> String {
    let mut stem = String::new();
    for c in text.chars().flat_map(char::to_lowercase) {
        if c.is_alphanumeric() {
            stem.push(c);
        } else if !stem.is_empty() && !stem.ends_with('-') {
            stem.push('-');
        }
    }
    let stem: String = stem.trim_end_matches('-').chars().take(60).collect();
    if stem.is_empty() { "imported".to_string() } else { stem.trim_end_matches('-').to_string() }
}

/// A name for a tool: `sign-in` in `acme` becomes `acme_signIn`.
pub fn tool_name(prefix: &str, text: &str) -> String {
    let name = camel(text);
    let prefix = camel(prefix);
    let whole = if prefix.is_empty() { name } else { format!("{prefix}_{name}") };
    whole.chars().take(64).collect()
}

fn camel(text: &str) -> String {
    let mut name = String::new();
    for word in text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()) {
        let mut letters = word.chars();
        match letters.next() {
            Some(first) if !name.is_empty() => name.extend([first.to_ascii_uppercase()]),
            Some(first) if first.is_ascii_digit() => name.extend(['n', first]),
            Some(first) => name.push(first.to_ascii_lowercase()),
            None => {}
        }
        name.push_str(letters.as_str());
    }
    name
}

/// A name for a remembered value: `output.order-id` becomes `output_order_id`.
pub fn value_name(text: &str) -> String {
    let name: String = text.trim().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    if name.starts_with(|c: char| c.is_ascii_digit()) { format!("_{name}") } else { name }
}

/// The path of a file that another one names, without `.` and `..`.
pub fn beside(path: &str, named: &str) -> String {
    let mut parts: Vec<&str> = if named.starts_with('/') { Vec::new() } else { path.split('/').collect() };
    parts.pop();
    for part in named.split('/') {
        match part {
            "." => {}
            ".." if parts.last().is_some_and(|last| *last != ".." && !last.is_empty()) => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// The name of a file without its folders and its last ending.
pub fn stem_of(path: &str) -> &str {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    name.split('.').next().filter(|stem| !stem.is_empty()).unwrap_or(name)
}

/// `landing` of `landing.png`, with what the name of an expected picture may have, and templates.
pub fn picture_name(name: &str) -> String {
    let name = name.strip_suffix(".png").unwrap_or(name);
    let safe = |c: char| if c.is_alphanumeric() || matches!(c, ' ' | '-' | '_' | '.' | '{' | '}') { c } else { '-' };
    let name: String = name.trim_start_matches(['.', '/']).chars().map(safe).collect();
    if name.is_empty() { "picture".to_string() } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_made_of_other_names() {
        assert_eq!(file_stem("Sign in & pay!"), "sign-in-pay");
        assert_eq!(file_stem("…"), "imported");
        assert_eq!(tool_name("com.acme", "sign-in"), "comAcme_signIn");
        assert_eq!(tool_name("", "2fa"), "n2fa");
        assert_eq!(value_name("output.order-id"), "output_order_id");
        assert_eq!(beside("flows/a.yaml", "../shared/b.yaml"), "shared/b.yaml");
        assert_eq!(beside("a.yaml", "../b.yaml"), "../b.yaml");
        assert_eq!(stem_of("flows/sign-in.flow.yaml"), "sign-in");
        assert_eq!(picture_name("../shots/board {{n}}.png"), "shots-board {{n}}");
    }
}
