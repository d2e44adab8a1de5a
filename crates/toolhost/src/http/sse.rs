//! Parses server-sent events, as far as MCP uses them: data, ids and retry times.

use std::time::Duration;

use crate::limits;

/// A complete event.
#[derive(Debug, PartialEq, Eq)]
pub struct Event {
    pub id: Option<String>,
    /// Empty if the event only has an id.
    pub data: String,
}

/// Parser state: bytes and fields that do not form an event yet.
#[derive(Default)]
pub struct Events {
    buffer: Vec<u8>,
    /// How much of the buffer is known to contain no line end.
    searched: usize,
    data: Option<String>,
    id: Option<String>,
    /// The last retry time that the server sent.
    pub retry: Option<Duration>,
}

#[derive(Debug, PartialEq, Eq)]
pub struct TooLong;

impl Events {
    pub fn push(&mut self, bytes: &[u8]) -> Result<Vec<Event>, TooLong> {
        let mut events = Vec::new();
        self.buffer.extend_from_slice(bytes);
        let mut start = 0;
        while let Some(end) = self.buffer[self.searched..].iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            let end = self.searched + end;
            let is_pair = self.buffer[end] == b'\r' && self.buffer.get(end + 1) == Some(&b'\n');
            // A carriage return at the end may be followed by a line feed in the next chunk.
            if self.buffer[end] == b'\r' && end + 1 == self.buffer.len() {
                self.searched = end;
                break;
            }
            let line = String::from_utf8_lossy(&self.buffer[start..end]).into_owned();
            events.extend(self.line(&line));
            start = end + 1 + usize::from(is_pair);
            self.searched = start;
        }
        self.buffer.drain(..start);
        self.searched = self.buffer.len().saturating_sub(1);
        let n_waiting = self.buffer.len() + self.data.as_ref().map_or(0, String::len);
        if n_waiting > limits::LINE_BYTES { Err(TooLong) } else { Ok(events) }
    }

    fn line(&mut self, line: &str) -> Option<Event> {
        if line.is_empty() {
            let (id, data) = (self.id.take(), self.data.take());
            let is_event = id.is_some() || data.is_some();
            return is_event.then(|| Event { id, data: data.unwrap_or_default() });
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field.trim_start_matches('\u{feff}') {
            "data" => match &mut self.data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
                None => self.data = Some(value.to_string()),
            },
            "id" if !value.contains('\0') => self.id = Some(value.to_string()),
            "retry" => self.retry = value.parse().ok().map(Duration::from_millis).or(self.retry),
            _ => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The events of a text, whole or byte by byte.
    #[track_caller]
    fn check(text: &str, expected: &[(Option<&str>, &str)]) {
        let expected: Vec<Event> =
            expected.iter().map(|(id, data)| Event { id: id.map(str::to_string), data: data.to_string() }).collect();
        assert_eq!(Events::default().push(text.as_bytes()).unwrap(), expected, "{text:?}");
        let mut events = Events::default();
        let pieces = text.as_bytes().chunks(1).flat_map(|byte| events.push(byte).unwrap());
        assert_eq!(pieces.collect::<Vec<_>>(), expected, "{text:?}, byte by byte");
    }

    #[test]
    fn lines_may_end_in_every_way() {
        check("data: a\n\ndata: b\r\n\r\ndata:c\n\n", &[(None, "a"), (None, "b"), (None, "c")]);
        check("\u{feff}data: a\n\n: nothing\n\nevent: message\nid: 7\ndata: b\n\n", &[(None, "a"), (Some("7"), "b")]);
    }

    #[test]
    fn data_may_have_several_lines_or_none() {
        check("data: {\ndata: }\n\n", &[(None, "{\n}")]);
        check("id: 1\ndata:\n\nid: 2\n\n", &[(Some("1"), ""), (Some("2"), "")]);
    }

    #[test]
    fn an_incomplete_event_is_not_returned() {
        check("data: a\n", &[]);
    }

    #[test]
    fn an_endless_event_is_refused() {
        let mut events = Events::default();
        let chunk = vec![b'x'; 1 << 20];
        let ended = (0..40).map(|_| events.push(&chunk)).find(Result::is_err);
        assert_eq!(ended, Some(Err(TooLong)));
    }
}
