//! Property lists in XML, as far as usbmuxd needs them.

use quick_xml::Reader;
use quick_xml::XmlVersion;
use quick_xml::escape::escape;
use quick_xml::events::Event;

/// The deepest nesting of a list.
const DEEPEST: usize = 16;

/// A value of a property list.
#[derive(Debug, Clone, PartialEq)]
pub enum Plist {
    Dict(Vec<(String, Plist)>),
    Array(Vec<Plist>),
    Text(String),
    Integer(i64),
    /// A kind of value that nobody needs: a date, data, a truth value.
    Other,
}

impl Plist {
    pub fn get(&self, key: &str) -> Option<&Plist> {
        match self {
            Plist::Dict(entries) => entries.iter().find(|(name, _)| name == key).map(|(_, value)| value),
            _ => None,
        }
    }

    pub fn text(&self, key: &str) -> Option<&str> {
        match self.get(key)? {
            Plist::Text(text) => Some(text),
            _ => None,
        }
    }

    pub fn integer(&self, key: &str) -> Option<i64> {
        match self.get(key)? {
            Plist::Integer(number) => Some(*number),
            _ => None,
        }
    }

    pub fn array(&self, key: &str) -> Option<&[Plist]> {
        match self.get(key)? {
            Plist::Array(values) => Some(values),
            _ => None,
        }
    }

    /// The value as a document.
    pub fn document(&self) -> String {
        let mut document = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
            <!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" \"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">\n\
            <plist version=\"1.0\">\n"
            .to_string();
        self.write(&mut document);
        document.push_str("</plist>\n");
        document
    }

    fn write(&self, to: &mut String) {
        match self {
            Plist::Dict(entries) => {
                to.push_str("<dict>\n");
                for (key, value) in entries {
                    to.push_str(&format!("<key>{}</key>", escape(key.as_str())));
                    value.write(to);
                }
                to.push_str("</dict>\n");
            }
            Plist::Array(values) => {
                to.push_str("<array>\n");
                values.iter().for_each(|value| value.write(to));
                to.push_str("</array>\n");
            }
            Plist::Text(text) => to.push_str(&format!("<string>{}</string>\n", escape(text.as_str()))),
            Plist::Integer(number) => to.push_str(&format!("<integer>{number}</integer>\n")),
            Plist::Other => to.push_str("<true/>\n"),
        }
    }

    /// Reads a document; `None` if it is no property list.
    pub fn read(document: &str) -> Option<Plist> {
        let mut reader = Reader::from_str(document);
        loop {
            match reader.read_event().ok()? {
                Event::Start(tag) if tag.name().as_ref() == b"plist" => return first_value(&mut reader),
                Event::Eof => return None,
                _ => {}
            }
        }
    }
}

fn first_value(reader: &mut Reader<&[u8]>) -> Option<Plist> {
    match next(reader)? {
        Tag::Open(name) => value(reader, &name, 1),
        Tag::Empty(name) => empty(&name),
        Tag::Close => None,
    }
}

enum Tag {
    Open(Vec<u8>),
    Empty(Vec<u8>),
    Close,
}

/// The next tag; what is between tags is only layout.
fn next(reader: &mut Reader<&[u8]>) -> Option<Tag> {
    loop {
        match reader.read_event().ok()? {
            Event::Start(tag) => return Some(Tag::Open(tag.name().as_ref().to_vec())),
            Event::Empty(tag) => return Some(Tag::Empty(tag.name().as_ref().to_vec())),
            Event::End(_) => return Some(Tag::Close),
            Event::Eof => return None,
            _ => {}
        }
    }
}

fn empty(name: &[u8]) -> Option<Plist> {
    Some(match name {
        b"dict" => Plist::Dict(Vec::new()),
        b"array" => Plist::Array(Vec::new()),
        b"string" => Plist::Text(String::new()),
        _ => Plist::Other,
    })
}

/// The value of a tag that was just opened, up to its end.
fn value(reader: &mut Reader<&[u8]>, name: &[u8], depth: usize) -> Option<Plist> {
    if depth > DEEPEST {
        return None;
    }
    match name {
        b"dict" => {
            let mut entries = Vec::new();
            loop {
                let key = match next(reader)? {
                    Tag::Open(name) if name == b"key" => content(reader)?,
                    Tag::Close => return Some(Plist::Dict(entries)),
                    _ => return None,
                };
                entries.push((key, member(reader, depth)??));
            }
        }
        b"array" => {
            let mut values = Vec::new();
            while let Some(value) = member(reader, depth)? {
                values.push(value);
            }
            Some(Plist::Array(values))
        }
        b"string" => content(reader).map(Plist::Text),
        b"integer" => content(reader)?.trim().parse().ok().map(Plist::Integer),
        _ => content(reader).map(|_| Plist::Other),
    }
}

/// The next member of a container; `Some(None)` at its end.
fn member(reader: &mut Reader<&[u8]>, depth: usize) -> Option<Option<Plist>> {
    match next(reader)? {
        Tag::Open(name) => value(reader, &name, depth + 1).map(Some),
        Tag::Empty(name) => empty(&name).map(Some),
        Tag::Close => Some(None),
    }
}

/// The text up to the end of a tag.
fn content(reader: &mut Reader<&[u8]>) -> Option<String> {
    let mut text = String::new();
    loop {
        match reader.read_event().ok()? {
            Event::Text(part) => text.push_str(&part.xml_content(XmlVersion::Implicit1_0).ok()?),
            Event::GeneralRef(name) => text.push(entity(&name)?),
            Event::CData(part) => text.push_str(&String::from_utf8_lossy(&part)),
            Event::End(_) => return Some(text),
            Event::Comment(_) => {}
            _ => return None,
        }
    }
}

fn entity(name: &[u8]) -> Option<char> {
    match name {
        b"amp" => Some('&'),
        b"lt" => Some('<'),
        b"gt" => Some('>'),
        b"quot" => Some('"'),
        b"apos" => Some('\''),
        _ => {
            let number = std::str::from_utf8(name.strip_prefix(b"#")?).ok()?;
            let code = match number.strip_prefix('x') {
                Some(hex) => u32::from_str_radix(hex, 16).ok()?,
                None => number.parse().ok()?,
            };
            char::from_u32(code)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_devices_is_read() {
        let document = r#"<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0"><dict>
  <key>DeviceList</key>
  <array>
    <dict><key>DeviceID</key><integer>3</integer><key>Properties</key>
      <dict><key>SerialNumber</key><string>A&amp;B &#60;</string><key>IsOn</key><true/><key>Empty</key><string/></dict>
    </dict>
    <dict/>
  </array>
</dict></plist>"#;
        let list = Plist::read(document).expect("a list");
        let devices = list.array("DeviceList").expect("devices");
        assert_eq!(devices.len(), 2);
        assert_eq!(devices[0].integer("DeviceID"), Some(3));
        let properties = devices[0].get("Properties").expect("properties");
        assert_eq!((properties.text("SerialNumber"), properties.text("Empty")), (Some("A&B <"), Some("")));
        assert_eq!(devices[0].text("DeviceID"), None);
    }

    #[test]
    fn what_is_written_can_be_read_again() {
        let entry = |key: &str, value: Plist| (key.to_string(), value);
        let inner = Plist::Dict(vec![entry("A & <B>", Plist::Text("\"x\" & <y>".to_string()))]);
        let list = Plist::Array(vec![inner, Plist::Integer(-7), Plist::Array(Vec::new()), Plist::Text(String::new())]);
        let whole = Plist::Dict(vec![entry("DeviceList", list), entry("PortNumber", Plist::Integer(42015))]);
        assert_eq!(Plist::read(&whole.document()), Some(whole));
    }

    #[test]
    fn what_is_no_list_is_refused() {
        let deep = format!("<plist>{}{}</plist>", "<array>".repeat(99), "</array>".repeat(99));
        for wrong in [
            "",
            "<html></html>",
            "<plist><dict><key>a</key></dict></plist>",
            "<plist><integer>x</integer></plist>",
            &deep,
        ] {
            assert_eq!(Plist::read(wrong), None, "{wrong}");
        }
    }
}
