//! What is written in `#[tool(…)]` and, for all tools, in `#[toolset(…)]`.

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::meta::ParseNestedMeta;
use syn::punctuated::Punctuated;
use syn::{Ident, LitBool, LitStr, Token, bracketed};

/// What is known about a tool besides its function.
#[derive(Clone, Default)]
pub struct Flags {
    pub name: Option<LitStr>,
    pub description: Option<LitStr>,
    platforms: Option<Vec<Ident>>,
    drivers: Option<Vec<LitStr>>,
    groups: Option<Vec<LitStr>>,
    toolset: Option<LitStr>,
    recordable: Option<bool>,
    for_model: Option<bool>,
    delegating: Option<bool>,
    host_only: Option<bool>,
}

const KNOWN: &str = "`name`, `description`, `platforms`, `drivers`, `groups`, `toolset`, `recordable`, `for_model`, `delegating` \
                     and `host_only`";
const PLATFORMS: [&str; 4] = ["Android", "Ios", "Web", "Desktop"];

impl Flags {
    /// Reads one entry.
    pub fn read(&mut self, meta: &ParseNestedMeta<'_>) -> syn::Result<()> {
        let Some(name) = meta.path.get_ident().map(ToString::to_string) else {
            return Err(meta.error(format!("unknown flag; the flags are {KNOWN}")));
        };
        match name.as_str() {
            "name" => once(&mut self.name, meta, text(meta)?),
            "description" => once(&mut self.description, meta, text(meta)?),
            "platforms" => once(&mut self.platforms, meta, platforms(meta)?),
            "drivers" => once(&mut self.drivers, meta, texts(meta)?),
            "groups" => once(&mut self.groups, meta, texts(meta)?),
            "toolset" => once(&mut self.toolset, meta, text(meta)?),
            "recordable" => once(&mut self.recordable, meta, flag(meta)?),
            "for_model" => once(&mut self.for_model, meta, flag(meta)?),
            "delegating" => once(&mut self.delegating, meta, flag(meta)?),
            "host_only" => once(&mut self.host_only, meta, flag(meta)?),
            name => Err(meta.error(format!("unknown flag `{name}`; the flags are {KNOWN}"))),
        }
    }

    /// These flags, with those of the whole toolset where a tool has none.
    pub fn or(self, all: &Flags) -> Flags {
        let all = all.clone();
        Flags {
            name: self.name,
            description: self.description,
            platforms: self.platforms.or(all.platforms),
            drivers: self.drivers.or(all.drivers),
            groups: self.groups.or(all.groups),
            toolset: self.toolset.or(all.toolset),
            recordable: self.recordable.or(all.recordable),
            for_model: self.for_model.or(all.for_model),
            delegating: self.delegating.or(all.delegating),
            host_only: self.host_only.or(all.host_only),
        }
    }

    /// The fields of the tool that they set.
    pub fn fields(&self) -> TokenStream {
        let platforms = self.platforms.iter().flatten();
        let (drivers, groups) = (self.drivers.iter().flatten(), self.groups.iter().flatten());
        let toolset = match &self.toolset {
            Some(toolset) => quote!(::core::option::Option::Some(#toolset)),
            None => quote!(::core::option::Option::None),
        };
        let (is_recordable, is_for_model) = (self.recordable.unwrap_or(true), self.for_model.unwrap_or(true));
        let (is_delegating, requires_host) = (self.delegating.unwrap_or(false), self.host_only.unwrap_or(false));
        quote! {
            platforms: &[#(::trailblaze_tools::Platform::#platforms),*],
            drivers: &[#(#drivers),*],
            groups: &[#(#groups),*],
            toolset: #toolset,
            is_recordable: #is_recordable,
            is_for_model: #is_for_model,
            is_delegating: #is_delegating,
            requires_host: #requires_host,
        }
    }
}

fn once<T>(place: &mut Option<T>, meta: &ParseNestedMeta<'_>, value: T) -> syn::Result<()> {
    match place.replace(value) {
        None => Ok(()),
        Some(_) => Err(meta.error("this flag is given twice")),
    }
}

fn text(meta: &ParseNestedMeta<'_>) -> syn::Result<LitStr> {
    let text: LitStr = meta.value()?.parse()?;
    if text.value().trim().is_empty() {
        return Err(syn::Error::new(text.span(), "this text is empty"));
    }
    Ok(text)
}

/// `recordable` is short for `recordable = true`.
fn flag(meta: &ParseNestedMeta<'_>) -> syn::Result<bool> {
    if !meta.input.peek(Token![=]) {
        return Ok(true);
    }
    Ok(meta.value()?.parse::<LitBool>()?.value)
}

fn texts(meta: &ParseNestedMeta<'_>) -> syn::Result<Vec<LitStr>> {
    let content;
    let input = meta.value()?;
    bracketed!(content in input);
    Ok(Punctuated::<LitStr, Token![,]>::parse_terminated(&content)?.into_iter().collect())
}

fn platforms(meta: &ParseNestedMeta<'_>) -> syn::Result<Vec<Ident>> {
    let content;
    let input = meta.value()?;
    bracketed!(content in input);
    let platforms = Punctuated::<Ident, Token![,]>::parse_terminated(&content)?;
    for platform in &platforms {
        if !PLATFORMS.iter().any(|known| platform == known) {
            let text = format!("unknown platform `{platform}`; the platforms are {}", PLATFORMS.join(", "));
            return Err(syn::Error::new(platform.span(), text));
        }
    }
    Ok(platforms.into_iter().collect())
}

/// A group that a toolset declares: `group(name = "auth", description = "Signing in", enabled = false)`.
pub struct GroupFlag {
    name: LitStr,
    description: Option<LitStr>,
    is_enabled: bool,
}

impl GroupFlag {
    pub fn read(meta: &ParseNestedMeta<'_>) -> syn::Result<GroupFlag> {
        let (mut name, mut description, mut is_enabled) = (None, None, None);
        meta.parse_nested_meta(|meta| match &meta.path {
            path if path.is_ident("name") => once(&mut name, &meta, text(&meta)?),
            path if path.is_ident("description") => once(&mut description, &meta, text(&meta)?),
            path if path.is_ident("enabled") => once(&mut is_enabled, &meta, flag(&meta)?),
            _ => Err(meta.error("unknown setting of a group; there are `name`, `description` and `enabled`")),
        })?;
        let name = name.ok_or_else(|| meta.error("a group has a `name`"))?;
        Ok(GroupFlag { name, description, is_enabled: is_enabled.unwrap_or(true) })
    }

    pub fn described(&self) -> TokenStream {
        let GroupFlag { name, description, is_enabled } = self;
        let description = description.as_ref().map(LitStr::value).unwrap_or_default();
        quote!(::trailblaze_tools::Group { name: #name, description: #description, is_enabled: #is_enabled })
    }
}

/// Reads the text of doc comments.
pub fn documentation(attributes: &[syn::Attribute]) -> Option<LitStr> {
    let mut lines: Vec<String> = Vec::new();
    let mut span = None;
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("doc")) {
        if let syn::Meta::NameValue(syn::MetaNameValue { value: syn::Expr::Lit(literal), .. }) = &attribute.meta
            && let syn::Lit::Str(line) = &literal.lit
        {
            span.get_or_insert(line.span());
            lines.push(line.value().trim().to_string());
        }
    }
    // Lines of one paragraph are one line; paragraphs stay apart.
    let paragraphs: Vec<String> = lines.split(String::is_empty).map(|lines| lines.join(" ")).collect();
    let text = paragraphs.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n\n");
    (!text.is_empty()).then(|| LitStr::new(&text, span.unwrap_or_else(Span::call_site)))
}
