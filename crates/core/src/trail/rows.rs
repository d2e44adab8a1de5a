//! The rows of a trail with `forEach:`: a table in the trail, or a CSV file. Each row is a case of its own.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::Trail;
use crate::names;
use crate::yaml::{Decode, Entries, Problem, Problems, Source, Span, Spanned, YamlKind, YamlNode};

/// The name under which a row is remembered.
pub const ROW: &str = "row";
/// The most rows of a trail.
const ROWS: usize = 10_000;

/// The rows as written.
#[derive(Debug, Clone, PartialEq)]
pub enum TrailRows {
    Table(Vec<Vec<(String, String)>>),
    /// A CSV file, relative to the folder of the trail.
    File(Spanned<String>),
}

/// The row that a trail runs with.
#[derive(Debug, Clone, PartialEq)]
pub struct TrailRow {
    /// From 1.
    pub number: u32,
    /// The values by column.
    pub values: Vec<(String, String)>,
}

impl TrailRow {
    /// What tells it apart from other rows, for people.
    pub fn name(&self) -> String {
        let values: Vec<&str> =
            self.values.iter().map(|(_, value)| value.trim()).filter(|value| !value.is_empty()).collect();
        if values.is_empty() { self.number.to_string() } else { values[..values.len().min(3)].join(", ") }
    }

    /// The row as it is remembered.
    pub fn remembered(&self) -> Value {
        let values = self.values.iter().map(|(column, value)| (column.clone(), Value::from(value.as_str())));
        Value::Object(values.collect::<Map<_, _>>())
    }
}

impl Trail {
    /// The trail once for each row, and unchanged if it has no rows.
    pub fn cases(self, rows: Vec<Vec<(String, String)>>) -> Vec<Trail> {
        if self.rows.is_none() {
            return vec![self];
        }
        let row = |(number, values)| TrailRow { number, values };
        (1..).zip(rows).map(row).map(|row| Trail { row: Some(row), ..self.clone() }).collect()
    }
}

impl Decode for TrailRows {
    fn decode(node: &YamlNode, problems: &mut Problems) -> Option<Self> {
        let items = match &node.kind {
            YamlKind::Seq(items) => items,
            YamlKind::Scalar { .. } if !node.is_null() => {
                return Spanned::<String>::decode(node, problems).map(TrailRows::File);
            }
            _ => {
                let hint = "write `forEach: [{city: Oslo}, {city: Rome}]`, or the path of a CSV file";
                problems.error_with_hint(node.span, "`forEach` needs rows", hint);
                return None;
            }
        };
        let mut rows: Vec<Vec<(String, String)>> = Vec::new();
        for item in items {
            let mut row = Vec::new();
            for (column, value) in Entries::<YamlNode>::decode(item, problems)?.0 {
                check_column(&column.value, column.span, problems);
                match value.raw() {
                    Some(_) if value.is_null() => row.push((column.value, String::new())),
                    Some(text) => row.push((column.value, text.to_string())),
                    None => problems.error(value.span, format!("`{}` must be a single value", column.value)),
                }
            }
            if let Some(first) = rows.first() {
                check_same_columns(first, &row, item.span, problems);
            }
            rows.push(row);
        }
        if rows.is_empty() {
            problems.error(node.span, "`forEach` has no rows");
        }
        Some(TrailRows::Table(rows))
    }

    fn schema() -> Value {
        let row = json!({"type": "object", "additionalProperties": {"type": ["string", "number", "boolean", "null"]}});
        json!({"anyOf": [{"type": "array", "minItems": 1, "items": row}, {"type": "string"}]})
    }
}

fn check_column(column: &str, span: Span, problems: &mut Problems) {
    if !names::is_parameter(column) {
        problems.error(span, format!("`{column}` is not a valid name of a column; use letters, digits and _"));
    }
}

fn check_same_columns(first: &[(String, String)], row: &[(String, String)], span: Span, problems: &mut Problems) {
    let has = |row: &[(String, String)], column: &str| row.iter().any(|(own, _)| own == column);
    for (column, _) in first.iter().filter(|(column, _)| !has(row, column)) {
        problems.error(span, format!("the row has no `{column}`, as the first one has"));
    }
    for (column, _) in row.iter().filter(|(column, _)| !has(first, column)) {
        problems.error(span, format!("the first row has no `{column}`"));
    }
}

/// The rows of a CSV file, whose first line names the columns.
pub fn csv_rows(source: &Arc<Source>) -> (Vec<Vec<(String, String)>>, Vec<Problem>) {
    let mut problems = Problems::new(source);
    let mut records = Vec::new();
    for record in CsvRecords::new(&source.text) {
        match record {
            Ok(record) => records.push(record),
            Err(CsvRecord { span, .. }) => {
                problems.error(span, "a quote that begins here is not closed");
                return (Vec::new(), problems.into_vec());
            }
        }
    }
    let mut records = records.into_iter();
    let Some(head) = records.next() else {
        problems.error(Span::default(), "the file has no rows");
        return (Vec::new(), problems.into_vec());
    };
    for (nth, column) in head.fields.iter().enumerate() {
        check_column(column, head.span, &mut problems);
        if head.fields[..nth].contains(column) {
            problems.error(head.span, format!("the column `{column}` occurs twice"));
        }
    }
    let mut rows = Vec::new();
    for record in records {
        if record.fields.len() != head.fields.len() {
            let (has, needs) = (record.fields.len(), head.fields.len());
            problems.error(
                record.span,
                format!("the number of values in the row is {has}, and that of columns is {needs}"),
            );
        }
        rows.push(head.fields.iter().cloned().zip(record.fields).collect());
    }
    match rows.len() {
        0 if !problems.has_errors() => {
            problems.error(head.span, "the file has no rows beneath the names of its columns")
        }
        n if n > ROWS => problems.error(head.span, format!("the file has more than {ROWS} rows")),
        _ => {}
    }
    // Rows that are not as they should be would cause more problems.
    let rows = if problems.has_errors() { Vec::new() } else { rows };
    (rows, problems.into_vec())
}

/// One line of a CSV file, or several if a quoted value has line breaks.
struct CsvRecord {
    fields: Vec<String>,
    span: Span,
}

/// The records of a CSV file as in RFC 4180. Empty lines are left out.
struct CsvRecords<'t> {
    text: &'t str,
    at: usize,
    line: usize,
}

impl<'t> CsvRecords<'t> {
    fn new(text: &'t str) -> CsvRecords<'t> {
        CsvRecords { text: text.strip_prefix('\u{feff}').unwrap_or(text), at: 0, line: 1 }
    }

    /// The place in the source, which a byte order mark shifts by its length only; people look at the line.
    fn span(&self) -> Span {
        Span { start: self.at, end: self.at, line: self.line, column: 1 }
    }

    fn record(&mut self) -> Result<CsvRecord, CsvRecord> {
        let span = self.span();
        let mut fields = vec![String::new()];
        let mut chars = self.text[self.at..].char_indices().peekable();
        let mut is_quoted = false;
        let mut end = self.text.len();
        while let Some((offset, c)) = chars.next() {
            let next = chars.peek().map(|(_, next)| *next);
            let field = fields.last_mut().expect("there is always a field");
            match c {
                '"' if is_quoted && next == Some('"') => {
                    field.push('"');
                    chars.next();
                }
                '"' if is_quoted => is_quoted = false,
                '"' if field.trim().is_empty() => {
                    field.clear();
                    is_quoted = true;
                }
                ',' if !is_quoted => fields.push(String::new()),
                '\r' if !is_quoted && next == Some('\n') => {}
                '\n' if !is_quoted => {
                    self.line += 1;
                    end = self.at + offset + 1;
                    break;
                }
                c => {
                    self.line += usize::from(c == '\n');
                    field.push(c);
                }
            }
        }
        self.at = end;
        let record = CsvRecord { fields, span };
        if is_quoted { Err(record) } else { Ok(record) }
    }
}

impl Iterator for CsvRecords<'_> {
    type Item = Result<CsvRecord, CsvRecord>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.at < self.text.len() {
            match self.record() {
                Ok(record) if record.fields.iter().all(|field| field.trim().is_empty()) && record.fields.len() == 1 => {
                }
                record => return Some(record),
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Vec<Vec<String>>, Vec<String>) {
        let (rows, problems) = csv_rows(&Source::new("rows.csv", text));
        let values = rows.into_iter().map(|row| row.into_iter().map(|(_, value)| value).collect()).collect();
        (values, problems.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn a_csv_file_is_read_as_spreadsheets_write_it() {
        let text = "\u{feff}city,note\r\nOslo,\"cold, \"\"dark\"\"\"\r\n\r\n\"New\nYork\",\r\n";
        assert_eq!(
            read(text),
            (vec![vec!["Oslo".into(), "cold, \"dark\"".into()], vec!["New\nYork".into(), String::new()]], vec![])
        );
    }

    #[test]
    fn what_is_wrong_with_a_csv_file_is_said_with_its_line() {
        for (text, expected) in [
            ("", "rows.csv:"),
            ("city\n", "no rows beneath"),
            ("city,city\na,b\n", "rows.csv:1:1: the column `city` occurs twice"),
            ("my city\na\n", "`my city` is not a valid name of a column"),
            (
                "city\nOslo\nRome,Italy\n",
                "rows.csv:3:1: the number of values in the row is 2, and that of columns is 1",
            ),
            ("city\n\"Oslo\n", "rows.csv:2:1: a quote that begins here is not closed"),
        ] {
            let (_, problems) = read(text);
            assert!(problems.iter().any(|problem| problem.contains(expected)), "{text:?}: {problems:?}");
        }
    }

    #[test]
    fn a_table_has_the_same_columns_in_each_row() {
        let problems = |rows: &str| {
            let (_, problems) = Trail::read(&Source::new("a", format!("forEach: {rows}\ntrail: [{{step: Pay}}]\n")));
            problems.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        assert!(problems("[{city: Oslo, n: 1}, {city: Rome, n: 02}]").is_empty());
        assert_eq!(
            problems("[{city: Oslo}, {town: Rome}]"),
            ["a:1:25: the row has no `city`, as the first one has", "a:1:25: the first row has no `town`",]
        );
        assert!(problems("[]")[0].contains("`forEach` has no rows"));
        assert!(problems("{city: Oslo}")[0].contains("`forEach` needs rows"));
        assert!(problems("[{city: [a]}]")[0].contains("must be a single value"));
    }

    #[test]
    fn a_trail_has_a_case_for_each_row() {
        let source = Source::new(
            "a.trail.yaml",
            "config: {id: pay, title: Pay}\nforEach: [{city: Oslo, n: 010}, {city: ''  , n: 2}]\ntrail: [{step: Pay}]\n",
        );
        let trail = Trail::read(&source).0.unwrap();
        let Some(TrailRows::Table(rows)) = trail.rows.clone() else { panic!("{:?}", trail.rows) };
        let cases = trail.cases(rows);
        assert_eq!(cases.iter().map(Trail::id).collect::<Vec<_>>(), ["pay[1]", "pay[2]"]);
        assert_eq!(cases.iter().map(Trail::title).collect::<Vec<_>>(), ["Pay [Oslo, 010]", "Pay [2]"]);
        assert_eq!(cases[0].row.as_ref().unwrap().remembered(), json!({"city": "Oslo", "n": "010"}));
    }
}
