//! Comments in a recorded trail above the steps that do not hold, or may not.

use trailblaze_core::trail::Trail;
use trailblaze_core::yaml::Source;

/// How the mark of a step begins that did not hold.
const FAILED: &str = "# Did not hold when it was replayed: ";
/// How the mark of a step begins that was found to be weak when it was recorded.
const DOUBTED: &str = "# May not hold when it is replayed: ";

/// A trail with a comment above the step that a line belongs to, counted from 1. `None` if there is no such step.
pub fn mark_failed(text: &str, line: usize, why: &str) -> Option<String> {
    let above = lines_of_steps(text)?.into_iter().filter(|at| *at <= line).max()?;
    Some(with_comments(text, &[(above, format!("{FAILED}{why}"))]))
}

/// A new trail with comments above some of its steps, by their places in it.
pub fn mark_doubted(text: &str, doubts: &[(usize, String)]) -> Option<String> {
    let lines = lines_of_steps(text)?;
    let comment = |(at, why): &(usize, String)| Some((*lines.get(*at)?, format!("{DOUBTED}{why}")));
    Some(with_comments(text, &doubts.iter().map(comment).collect::<Option<Vec<_>>>()?))
}

fn lines_of_steps(text: &str) -> Option<Vec<usize>> {
    let (trail, _) = Trail::read(&Source::new("recorded", text));
    Some(trail?.all_steps().map(|step| step.text.span.line).collect())
}

fn with_comments(text: &str, comments: &[(usize, String)]) -> String {
    let mut out = String::new();
    for (line, number) in text.split_inclusive('\n').zip(1..) {
        for (_, comment) in comments.iter().filter(|(at, _)| *at == number) {
            let indent = &line[..line.len() - line.trim_start_matches(' ').len()];
            out.push_str(&format!("{indent}{}\n", comment.replace('\n', " ")));
        }
        out.push_str(line);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRAIL: &str = "trail:\n  - step: Open\n    tools:\n      - back: {}\n  - step: Pay\n    tools:\n      - tap:\n          text: Pay\n";

    #[test]
    fn the_step_that_a_line_belongs_to_is_marked() {
        let marked = mark_failed(TRAIL, 8, "no button").expect("a step");
        let expected =
            TRAIL.replace("  - step: Pay", "  # Did not hold when it was replayed: no button\n  - step: Pay");
        assert_eq!(marked, expected);
        assert!(Trail::read(&Source::new("recorded", marked)).0.is_some(), "it can still be read");
    }

    #[test]
    fn steps_that_may_not_hold_are_marked_by_their_places() {
        let doubts = [(0, "there is only one way".to_string()), (1, "it is a point".to_string())];
        let marked = mark_doubted(TRAIL, &doubts).expect("steps");
        let expected = TRAIL
            .replace("  - step: Open", "  # May not hold when it is replayed: there is only one way\n  - step: Open")
            .replace("  - step: Pay", "  # May not hold when it is replayed: it is a point\n  - step: Pay");
        assert_eq!(marked, expected);
        assert_eq!(mark_doubted(TRAIL, &[(7, "it is a point".to_string())]), None);
    }
}
