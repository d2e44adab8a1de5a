//! What wrong uses get, and what a definition depends on.

use quote::quote;

use super::*;

fn error(attribute: TokenStream, item: TokenStream) -> String {
    toolset(attribute, item).err().map(|error| error.to_string()).unwrap_or_default()
}

#[test]
fn wrong_uses_are_errors_in_plain_words() {
    let known = "the flags are `name`, `description`, `platforms`, `drivers`, `groups`, `toolset`, `recordable`, `for_model`, \
                 `delegating` and `host_only`";
    let unknown_flag = format!("unknown flag `recordble`; {known}");
    for (attribute, item, expected) in [
        (
            quote!(),
            quote!(
                struct Acme;
            ),
            "expected `impl`",
        ),
        (quote!(), quote!(impl Acme {}), "a toolset has at least one function with `#[tool]`"),
        (
            quote!(),
            quote!(impl Acme { #[tool] async fn login(&self) -> ToolResult {} }),
            "the tool `login` has no description: write a doc comment, which people and models read",
        ),
        (
            quote!(),
            quote!(impl Acme { #[doc = " Sign in."] #[tool] fn login(&self) -> ToolResult {} }),
            "the tool `login` must be `async`",
        ),
        (
            quote!(),
            quote!(impl Acme { #[doc = " Sign in."] #[tool] async fn login() -> ToolResult {} }),
            "the first parameter of the tool `login` is `&self`",
        ),
        (
            quote!(),
            quote!(impl Acme { #[doc = " Sign in."] #[tool] async fn login(&self) {} }),
            "the tool `login` returns a `ToolResult`",
        ),
        (
            quote!(),
            quote!(impl Acme { #[doc = " Sign in."] #[tool] async fn login<T>(&self, a: T) -> ToolResult {} }),
            "the tool `login` cannot be generic",
        ),
        (
            quote!(),
            quote!(impl Acme { #[doc = " Sign in."] #[tool(name = "Acme.Login")] async fn login(&self) -> ToolResult {} }),
            "`Acme.Login` is not a valid tool name: at most 64 letters and digits, in camelCase words joined by `_`, such as \
             `acme_signIn`",
        ),
        (
            quote!(),
            quote!(impl Acme { #[doc = " Sign in."] #[tool(recordble)] async fn login(&self) -> ToolResult {} }),
            unknown_flag.as_str(),
        ),
        (
            quote!(group(description = "Signing in")),
            quote!(impl Acme { #[doc = " Sign in."] #[tool] async fn login(&self) -> ToolResult {} }),
            "a group has a `name`",
        ),
        (
            quote!(platforms = [Phone]),
            quote!(impl Acme { #[doc = " Sign in."] #[tool] async fn login(&self) -> ToolResult {} }),
            "unknown platform `Phone`; the platforms are Android, Ios, Web, Desktop",
        ),
        (
            quote!(),
            quote!(impl Acme {
                #[doc = " Sign in."] #[tool(name = "acme_login")] async fn login(&self) -> ToolResult {}
                #[doc = " Sign in."] #[tool(name = "acme_login")] async fn enter(&self) -> ToolResult {}
            }),
            "two tools have the name `acme_login`: `login` and `enter`",
        ),
        (
            quote!(),
            quote!(impl Acme { #[doc = " Sign in."] #[tool] async fn login(&self, user: &User) -> ToolResult {} }),
            "an argument of a tool is `&str`, `&[…]` or a type without a reference",
        ),
        (
            quote!(),
            quote!(impl Acme {
                #[doc = " Sign in."] #[tool] async fn login(&self, Args(a): Args<A>, b: u8) -> ToolResult {}
            }),
            "a tool takes either a struct, `Args(…): Args<…>`, or single arguments",
        ),
        (
            quote!(),
            quote!(impl Acme {
                #[doc = " Sign in."] #[tool] async fn login(&self, #[arg(min = 1)] n: u8) -> ToolResult {}
            }),
            "unknown setting of an argument; there are `name` and `default`",
        ),
        (
            quote!(),
            quote!(impl Clone for Acme { #[doc = " Sign in."] #[tool] async fn login(&self) -> ToolResult {} }),
            "`#[toolset]` is for an `impl` block of the toolset itself",
        ),
    ] {
        assert_eq!(error(attribute, item), expected);
    }
}

#[test]
fn the_definition_depends_on_the_source_and_not_on_its_format() {
    let one = definition("impl A { fn b ( & self ) { 1 } }".parse().expect("tokens"));
    let same = definition("impl A {\n    fn b(&self) {\n        1\n    }\n}".parse().expect("tokens"));
    let other = definition("impl A { fn b(&self) { 2 } }".parse().expect("tokens"));
    assert_eq!(one, same);
    assert_ne!(one, other);
}
