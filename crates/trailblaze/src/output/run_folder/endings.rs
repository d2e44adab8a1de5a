//! File extensions of attachments. A browser that opens a file from disk goes by its extension, so a tool must not choose
//! it: HTML, SVG and XML would run as pages next to the report.

use trailblaze_protocol::outcome::Attachment;

/// Kinds of files that run nothing when they are opened.
const INERT: [(&str, &str); 17] = [
    ("image/png", "png"),
    ("image/jpeg", "jpg"),
    ("image/jpg", "jpg"),
    ("image/gif", "gif"),
    ("image/webp", "webp"),
    ("image/avif", "avif"),
    ("image/bmp", "bmp"),
    ("audio/mpeg", "mp3"),
    ("audio/wav", "wav"),
    ("audio/x-wav", "wav"),
    ("audio/ogg", "ogg"),
    ("video/mp4", "mp4"),
    ("video/webm", "webm"),
    ("application/json", "json"),
    ("application/pdf", "pdf"),
    ("application/zip", "zip"),
    ("text/csv", "csv"),
];
/// For the text and the bytes of all others.
const TEXT: &str = "txt";
const BYTES: &str = "bin";

pub fn ending(attachment: &Attachment) -> &'static str {
    let essence = attachment.mime.split(';').next().unwrap_or_default().trim();
    let inert = INERT.iter().find(|(mime, _)| essence.eq_ignore_ascii_case(mime));
    match inert {
        Some((_, ending)) => ending,
        None if std::str::from_utf8(&attachment.bytes).is_ok() => TEXT,
        None => BYTES,
    }
}

/// Whether a file, by its name, runs nothing when it is opened. The record of a run may come from elsewhere.
pub fn is_inert(file: &str) -> bool {
    let ending = file.rsplit_once('.').map_or("", |(_, ending)| ending);
    INERT
        .iter()
        .map(|(_, inert)| *inert)
        .chain([TEXT, BYTES, "jpeg", "log"])
        .any(|inert| ending.eq_ignore_ascii_case(inert))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(mime: &str, bytes: &[u8], expected: &str) {
        let attachment = Attachment { name: "a".into(), mime: mime.into(), file: None, bytes: bytes.into() };
        assert_eq!(ending(&attachment), expected, "{mime}");
        assert!(is_inert(&format!("attachments/a.{expected}")));
    }

    #[test]
    fn no_attachment_becomes_a_page() {
        check("image/png", b"\x89PNG", "png");
        check("IMAGE/JPEG; q=1", b"\xff\xd8", "jpg");
        for mime in
            ["text/html", "image/svg+xml", "application/xhtml+xml", "text/xml", "text/plain", "x/html", "html", ""]
        {
            check(mime, b"<script>alert(1)</script>", "txt");
            check(mime, b"\xff<script>", "bin");
        }
        for file in ["a.html", "a.svg", "a.xml", "a.plain", "a", "a.png/b", "a.png.xht", "a.mhtml", "a.txt "] {
            assert!(!is_inert(file), "{file}");
        }
    }
}
