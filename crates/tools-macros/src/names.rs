//! Valid names of tools.

use syn::LitStr;

/// Checks the name of a tool as Trailblaze does when it starts.
pub fn check(name: &str, at: &LitStr) -> syn::Result<()> {
    let is_word = |word: &str| {
        word.starts_with(|c: char| c.is_ascii_lowercase()) && word.bytes().all(|b| b.is_ascii_alphanumeric())
    };
    if name.split('_').all(is_word) && name.len() <= 64 {
        return Ok(());
    }
    let text = format!(
        "`{name}` is not a valid tool name: at most 64 letters and digits, in camelCase words joined by `_`, such as \
         `acme_signIn`"
    );
    Err(syn::Error::new(at.span(), text))
}
