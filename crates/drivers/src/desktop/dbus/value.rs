//! Values in messages, as they were read.

/// A value of any type. Strings, paths and signatures are texts; a dictionary is a list of pairs.
#[derive(Debug, Clone, PartialEq)]
pub enum DBusValue {
    Bool(bool),
    /// An integer of any size.
    Int(i64),
    Float(f64),
    Text(String),
    List(Vec<DBusValue>),
    /// A structure, or an entry of a dictionary.
    Tuple(Vec<DBusValue>),
}

impl DBusValue {
    pub fn text(&self) -> Option<&str> {
        match self {
            DBusValue::Text(text) => Some(text),
            _ => None,
        }
    }

    pub fn into_text(self) -> Option<String> {
        match self {
            DBusValue::Text(text) => Some(text),
            _ => None,
        }
    }

    pub fn int(&self) -> Option<i64> {
        match self {
            DBusValue::Int(number) => Some(*number),
            _ => None,
        }
    }

    /// An integer as large as most interfaces mean it; one that is larger is cut off.
    pub fn small(&self) -> Option<i32> {
        self.int().map(|number| number.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32)
    }

    pub fn float(&self) -> Option<f64> {
        match self {
            DBusValue::Float(number) => Some(*number),
            DBusValue::Int(number) => Some(*number as f64),
            _ => None,
        }
    }

    pub fn bool(&self) -> Option<bool> {
        match self {
            DBusValue::Bool(flag) => Some(*flag),
            _ => None,
        }
    }

    /// The elements of a list, or the fields of a structure; nothing for other values.
    pub fn items(&self) -> &[DBusValue] {
        match self {
            DBusValue::List(items) | DBusValue::Tuple(items) => items,
            _ => &[],
        }
    }

    /// The value of a text key in a dictionary.
    pub fn entry(&self, key: &str) -> Option<&DBusValue> {
        self.items().iter().map(DBusValue::items).find_map(|pair| match pair {
            [name, value] if name.text() == Some(key) => Some(value),
            _ => None,
        })
    }
}
