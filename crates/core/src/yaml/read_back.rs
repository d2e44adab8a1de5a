//! Files that are only written if they read back as what is meant.

use std::sync::Arc;

use super::node::Source;
use super::problem::Problem;
use crate::limits;

/// Why a file is not written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadBackError {
    #[error("it would have {bytes} bytes; the limit is {}", limits::FILE_BYTES)]
    TooLarge { bytes: usize },
    #[error("it would not read back the same")]
    Different,
    #[error("it would not read back: {0}")]
    Broken(String),
}

/// Returns the text of a file, if what `read` makes of it `is_meant`.
pub fn read_back<T>(
    text: String,
    read: impl FnOnce(&Arc<Source>) -> Result<T, Vec<Problem>>,
    is_meant: impl FnOnce(&T) -> bool,
) -> Result<String, ReadBackError> {
    if text.len() > limits::FILE_BYTES {
        return Err(ReadBackError::TooLarge { bytes: text.len() });
    }
    match read(&Source::new("", text.as_str())) {
        Ok(contents) if is_meant(&contents) => Ok(text),
        Ok(_) => Err(ReadBackError::Different),
        Err(problems) => {
            let first = problems.into_iter().next();
            Err(ReadBackError::Broken(first.map(|problem| problem.message).unwrap_or_default()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml::{Problems, loose, read};

    #[track_caller]
    fn check(text: &str, expected: Result<&str, &str>) {
        let value = |source: &Arc<Source>| {
            let mut problems = Problems::new(source);
            let root = read(source, &mut problems);
            root.map(|root| loose(&root)).filter(|_| !problems.has_errors()).ok_or(problems.into_vec())
        };
        let checked = read_back(text.to_string(), value, |read| *read == serde_json::json!({"a": 1}));
        assert_eq!(checked.as_deref().map_err(ToString::to_string), expected.map_err(String::from));
    }

    #[test]
    fn a_text_that_reads_differently_is_refused() {
        check("a: 1\n", Ok("a: 1\n"));
        check("a: 2\n", Err("it would not read back the same"));
        let too_large = format!("a: 1\n#{}", "x".repeat(limits::FILE_BYTES));
        let message = format!("it would have {} bytes; the limit is {}", too_large.len(), limits::FILE_BYTES);
        check(&too_large, Err(&message));
    }

    #[test]
    fn a_text_that_cannot_be_read_is_refused_with_the_first_problem() {
        let broken = read_back(
            "a: [1".to_string(),
            |source| {
                let mut problems = Problems::new(source);
                read(source, &mut problems);
                Err::<(), _>(problems.into_vec())
            },
            |()| true,
        );
        assert!(matches!(&broken, Err(ReadBackError::Broken(why)) if !why.is_empty()), "{broken:?}");
    }
}
