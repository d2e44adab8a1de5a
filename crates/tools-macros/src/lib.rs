//! The attribute `#[toolset]`. Its documentation is in `trailblaze-tools`, which re-exports it.

mod expand;
mod flags;
mod names;
mod params;

use proc_macro::TokenStream;

#[proc_macro_attribute]
pub fn toolset(attribute: TokenStream, item: TokenStream) -> TokenStream {
    expand::toolset(attribute.into(), item.into()).unwrap_or_else(|error| error.into_compile_error()).into()
}
