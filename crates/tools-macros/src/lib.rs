//! The attribute `#[toolset]` and the macro `json!`. Their documentation is in `trailblaze-tools`, which re-exports them.

mod expand;
mod flags;
mod json;
mod names;
mod params;

use proc_macro::TokenStream;

#[proc_macro_attribute]
pub fn toolset(attribute: TokenStream, item: TokenStream) -> TokenStream {
    expand::toolset(attribute.into(), item.into()).unwrap_or_else(|error| error.into_compile_error()).into()
}

#[proc_macro]
pub fn json(literal: TokenStream) -> TokenStream {
    json::json(literal.into()).unwrap_or_else(|error| error.into_compile_error()).into()
}
