//! The typed API as data: its methods and messages, and how messages are read and written, as JSON and in protobuf's binary
//! format. Knows nothing of HTTP, devices or sessions.

pub mod codec;
#[rustfmt::skip]
pub mod generated;

pub use generated::{METHODS, SessionMethod};

/// A method of the API.
pub struct Method {
    /// `package.Service/Method`.
    pub path: &'static str,
    pub name: &'static str,
    pub request: &'static Message,
    pub response: &'static Message,
    /// Whether it returns a stream of responses.
    pub is_streaming: bool,
    pub target: Target,
}

/// What a method calls.
pub enum Target {
    /// A built-in tool.
    Command(Command),
    /// Something of the session itself.
    Session(SessionMethod),
}

impl Method {
    /// The built-in tool that it calls; `None` for methods of the session.
    pub fn command(&self) -> Option<&Command> {
        match &self.target {
            Target::Command(command) => Some(command),
            Target::Session(_) => None,
        }
    }
}

/// A method that is a built-in tool.
pub struct Command {
    pub tool: &'static str,
    pub kind: Kind,
    /// The platforms that have it; all if empty.
    pub platforms: &'static [&'static str],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Action,
    Query,
    Assertion,
}

pub struct Message {
    pub name: &'static str,
    pub fields: &'static [Field],
}

// Not derived: a message may contain itself.
impl std::fmt::Debug for Message {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

pub struct Field {
    /// As in the `.proto` file: `package_id`.
    pub name: &'static str,
    /// As in JSON: `packageId`.
    pub json: &'static str,
    pub number: u32,
    pub ty: Type,
    pub is_repeated: bool,
    /// Whether absent differs from the type's zero.
    pub is_optional: bool,
}

pub enum Type {
    Bool,
    Int32,
    Double,
    Text,
    Bytes,
    Enum(&'static Enum),
    Message(&'static Message),
    /// From texts to messages.
    Map(&'static Message),
    /// Any JSON value: `google.protobuf.Value`.
    Value,
    /// A JSON object: `google.protobuf.Struct`.
    Struct,
}

pub struct Enum {
    pub name: &'static str,
    /// What the names of its values start with in the `.proto` file: `DIRECTION_`.
    pub prefix: &'static str,
    /// Its values without the prefix, and their numbers.
    pub words: &'static [(&'static str, i32)],
}

/// The method with this path.
pub fn method(path: &str) -> Option<&'static Method> {
    METHODS.iter().find(|method| method.path == path)
}
