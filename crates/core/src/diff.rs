//! A readable diff of two lists of lines: removed and added lines, with some context.

/// How many lines of context are shown around a difference.
const AROUND: usize = 2;
/// Longer lists take too long to compare; they are shown in full.
const CELLS: usize = 4_000_000;

/// Removed lines with `-`, added lines with `+`; `None` if the lists are equal.
pub fn diff(old: &[String], new: &[String]) -> Option<String> {
    if old == new {
        return None;
    }
    let lines = edits(old, new);
    let is_shown = |at: usize| {
        let from = at.saturating_sub(AROUND);
        lines[from..lines.len().min(at + AROUND + 1)].iter().any(|(sign, _)| *sign != ' ')
    };
    let mut out: Vec<String> = Vec::new();
    for (at, (sign, line)) in lines.iter().enumerate() {
        match is_shown(at) {
            true => out.push(format!("{sign} {line}")),
            false if out.last().is_none_or(|last| last != "  …") => out.push("  …".to_string()),
            false => {}
        }
    }
    Some(out.join("\n"))
}

/// All lines of both lists in order: those of both with a space, removed ones with `-`, and added ones with `+`.
pub fn edits<'l>(old: &'l [String], new: &'l [String]) -> Vec<(char, &'l str)> {
    let head = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let tail = old[head..].iter().rev().zip(new[head..].iter().rev()).take_while(|(a, b)| a == b).count();
    let (gone, come) = (&old[head..old.len() - tail], &new[head..new.len() - tail]);
    let mut edits: Vec<(char, &str)> = old[..head].iter().map(|line| (' ', line.as_str())).collect();
    edits.extend(changed(gone, come));
    edits.extend(old[old.len() - tail..].iter().map(|line| (' ', line.as_str())));
    edits
}

/// The shortest edit script, by the longest common subsequence.
fn changed<'l>(gone: &'l [String], come: &'l [String]) -> Vec<(char, &'l str)> {
    let removed = |line: &'l String| ('-', line.as_str());
    let added = |line: &'l String| ('+', line.as_str());
    let width = come.len() + 1;
    if (gone.len() + 1).saturating_mul(width) > CELLS {
        return gone.iter().map(removed).chain(come.iter().map(added)).collect();
    }
    let mut common = vec![0u32; (gone.len() + 1) * width];
    for (i, a) in gone.iter().enumerate().rev() {
        for (j, b) in come.iter().enumerate().rev() {
            common[i * width + j] = if a == b {
                common[(i + 1) * width + j + 1] + 1
            } else {
                common[(i + 1) * width + j].max(common[i * width + j + 1])
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut edits = Vec::new();
    while i < gone.len() || j < come.len() {
        if i < gone.len() && j < come.len() && gone[i] == come[j] {
            edits.push((' ', gone[i].as_str()));
            (i, j) = (i + 1, j + 1);
        } else if j == come.len() || i < gone.len() && common[(i + 1) * width + j] >= common[i * width + j + 1] {
            edits.push(removed(&gone[i]));
            i += 1;
        } else {
            edits.push(added(&come[j]));
            j += 1;
        }
    }
    edits
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(old: &str, new: &str, expected: Option<&str>) {
        let lines = |text: &str| text.chars().map(String::from).collect::<Vec<_>>();
        assert_eq!(diff(&lines(old), &lines(new)).map(|text| text.replace('\n', ",")).as_deref(), expected);
    }

    #[test]
    fn what_went_and_what_came_is_shown_with_what_is_around_it() {
        check("abc", "abc", None);
        check("abc", "axc", Some("  a,- b,+ x,  c"));
        check("", "ab", Some("+ a,+ b"));
        check("ab", "", Some("- a,- b"));
        check("abcdefgh", "abcdeXgh", Some("  …,  d,  e,- f,+ X,  g,  h"));
        check("abcdefgh", "Xabcdefg", Some("+ X,  a,  b,  …,  f,  g,- h"));
    }
}
