//! From an `impl` block to a toolset.

use std::collections::HashMap;
use std::fmt::Write;

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::parse::Parser;
use syn::spanned::Spanned;
use syn::{Attribute, FnArg, ImplItem, ImplItemFn, ItemImpl, LitStr, ReceiverKind, ReturnType, Type};

use crate::flags::{Flags, GroupFlag, documentation};
use crate::names;
use crate::params::{ArgsShape, Params};

/// The `impl` block without what only the macro understands, its tools as a `Toolset`, and their names as constants.
pub fn toolset(attribute: TokenStream, item: TokenStream) -> syn::Result<TokenStream> {
    let (mut all, mut groups) = (Flags::default(), Vec::new());
    syn::meta::parser(|meta| {
        if meta.path.is_ident("group") {
            groups.push(GroupFlag::read(&meta)?);
            return Ok(());
        }
        all.read(&meta)
    })
    .parse2(attribute)?;
    if let Some(description) = &all.description {
        return Err(syn::Error::new(description.span(), "each tool has its own description"));
    }
    let definition = definition(item.clone());
    let mut block: ItemImpl = syn::parse2(item)?;
    if let Some((path, _)) = &block.trait_ {
        return Err(syn::Error::new(path.span(), "`#[toolset]` is for an `impl` block of the toolset itself"));
    }
    let name = match &all.name {
        Some(name) => name.clone(),
        None => type_name(&block.self_ty)?,
    };
    let mut tools = Vec::new();
    for item in &mut block.items {
        let ImplItem::Fn(function) = item else { continue };
        let marks: Vec<Attribute> =
            function.attrs.extract_if(.., |attribute| attribute.path().is_ident("tool")).collect();
        match marks.as_slice() {
            [] => {}
            [mark] => tools.push(ToolMethod::take(mark, function, &all)?),
            [_, second, ..] => return Err(syn::Error::new(second.span(), "a function is one tool")),
        }
    }
    if tools.is_empty() {
        return Err(syn::Error::new(block.self_ty.span(), "a toolset has at least one function with `#[tool]`"));
    }
    let mut known: HashMap<String, &Ident> = HashMap::new();
    for tool in &tools {
        if let Some(other) = known.insert(tool.name.value(), &tool.function) {
            let text = format!("two tools have the name `{}`: `{other}` and `{}`", tool.name.value(), tool.function);
            return Err(syn::Error::new(tool.name.span(), text));
        }
    }
    let (generics, _, condition) = block.generics.split_for_impl();
    let toolset = &block.self_ty;
    let constants = tools.iter().map(ToolMethod::constant);
    let structs = tools.iter().map(ToolMethod::structure);
    let described = tools.iter().map(ToolMethod::described);
    let calls = tools.iter().map(ToolMethod::call);
    let groups = groups.iter().map(GroupFlag::described);
    Ok(quote! {
        #block

        /// The names of its tools.
        impl #generics #toolset #condition {
            #(#constants)*
        }

        const _: () = {
            use ::trailblaze_tools::private;

            #(#structs)*

            impl #generics ::trailblaze_tools::Toolset for #toolset #condition {
                fn name(&self) -> &'static str {
                    #name
                }

                fn definition(&self) -> &'static str {
                    #definition
                }

                fn source_root(&self) -> &'static str {
                    env!("CARGO_MANIFEST_DIR")
                }

                fn tools(&self) -> ::std::vec::Vec<::trailblaze_tools::Tool> {
                    ::std::vec![#(#described),*]
                }

                fn groups(&self) -> ::std::vec::Vec<::trailblaze_tools::Group> {
                    ::std::vec![#(#groups),*]
                }

                fn call<'a>(
                    &'a self,
                    tool: &'a str,
                    cx: &'a ::trailblaze_tools::ToolContext,
                    args: private::Map<::std::string::String, private::Value>,
                ) -> private::Answer<'a> {
                    match tool {
                        #(#calls)*
                        unknown => private::unknown(unknown),
                    }
                }
            }
        };
    })
}

/// A function that is a tool.
struct ToolMethod {
    function: Ident,
    name: LitStr,
    description: LitStr,
    flags: Flags,
    params: Params,
}

impl ToolMethod {
    fn take(mark: &Attribute, function: &mut ImplItemFn, all: &Flags) -> syn::Result<ToolMethod> {
        let mut flags = Flags::default();
        if !matches!(mark.meta, syn::Meta::Path(_)) {
            mark.parse_nested_meta(|meta| flags.read(&meta))?;
        }
        let signature = &mut function.sig;
        let ident = signature.ident.clone();
        if signature.asyncness.is_none() {
            return Err(syn::Error::new(signature.fn_token.span(), format!("the tool `{ident}` must be `async`")));
        }
        if !matches!(signature.inputs.first(), Some(FnArg::Receiver(receiver)) if is_shared(receiver)) {
            return Err(syn::Error::new(ident.span(), format!("the first parameter of the tool `{ident}` is `&self`")));
        }
        if let Some(generic) = signature.generics.params.first() {
            return Err(syn::Error::new(generic.span(), format!("the tool `{ident}` cannot be generic")));
        }
        if matches!(signature.output, ReturnType::Default) {
            return Err(syn::Error::new(ident.span(), format!("the tool `{ident}` returns a `ToolResult`")));
        }
        let description = flags.description.take().or_else(|| documentation(&function.attrs)).ok_or_else(|| {
            let text =
                format!("the tool `{ident}` has no description: write a doc comment, which people and models read");
            syn::Error::new(ident.span(), text)
        })?;
        let name = flags.name.take().unwrap_or_else(|| LitStr::new(&ident.to_string(), ident.span()));
        names::check(&name.value(), &name)?;
        let params = Params::take(&ident, signature.inputs.iter_mut())?;
        Ok(ToolMethod { function: ident, name, description, flags: flags.or(all), params })
    }

    /// `LOGIN`, for the function `login`.
    fn constant(&self) -> TokenStream {
        let (name, doc) = (&self.name, format!("The name of the tool `{}`.", self.function));
        let constant = Ident::new(&self.function.to_string().to_uppercase(), self.function.span());
        quote! {
            #[doc = #doc]
            #[allow(dead_code)]
            pub const #constant: &'static str = #name;
        }
    }

    /// The struct that its arguments are read into.
    fn structure(&self) -> Option<TokenStream> {
        let ArgsShape::Flat(fields) = &self.params.args else { return None };
        let (name, title) = (self.arguments(), self.name.value());
        let defaults = fields.iter().filter_map(|field| field.default.as_ref());
        let fields = fields.iter().map(|field| &field.field);
        Some(quote! {
            #(#defaults)*

            #[derive(private::Deserialize, private::JsonSchema)]
            #[serde(crate = "::trailblaze_tools::private::serde", deny_unknown_fields)]
            #[schemars(crate = "::trailblaze_tools::private::schemars", rename = #title)]
            #[allow(non_camel_case_types)]
            struct #name { #(#fields)* }
        })
    }

    fn arguments(&self) -> Ident {
        format_ident!("Arguments_{}", self.function)
    }

    /// The type that its arguments are read into.
    fn arguments_type(&self) -> TokenStream {
        match &self.params.args {
            ArgsShape::Flat(_) => self.arguments().into_token_stream(),
            ArgsShape::Struct(ty) => ty.into_token_stream(),
        }
    }

    fn described(&self) -> TokenStream {
        let (name, description, flags) = (&self.name, &self.description, self.flags.fields());
        let arguments = self.arguments_type();
        let place = quote_spanned!(self.function.span()=> (file!(), line!()));
        quote! {
            ::trailblaze_tools::Tool {
                name: #name,
                description: #description,
                schema: private::schema::<#arguments>(),
                place: #place,
                #flags
            }
        }
    }

    fn call(&self) -> TokenStream {
        let (name, function, passed) = (&self.name, &self.function, &self.params.passed);
        let arguments = self.arguments_type();
        // What is wrong with a result is told with the place of the function.
        let output = quote_spanned! {function.span()=>
            private::IntoOutput::into_output(self.#function(#(#passed),*).await?)
        };
        quote! {
            #name => ::std::boxed::Box::pin(async move {
                #[allow(unused_variables)]
                let args: #arguments = private::read::<#arguments>(args)?;
                #output
            }),
        }
    }
}

fn is_shared(receiver: &syn::Receiver) -> bool {
    matches!(receiver.kind, ReceiverKind::Reference(_, _, None))
}

/// `Acme`, for `acme::Acme<T>`.
fn type_name(ty: &Type) -> syn::Result<LitStr> {
    match ty {
        Type::Path(path) if path.qself.is_none() => {
            let last = path.path.segments.last().expect("a path has a segment");
            Ok(LitStr::new(&last.ident.to_string(), last.ident.span()))
        }
        other => Err(syn::Error::new(other.span(), "a toolset is a struct or an enum")),
    }
}

/// The source of the block, however it is formatted. Trailblaze pins it with what it records, to notice changes.
fn definition(tokens: TokenStream) -> String {
    fn write(tokens: TokenStream, text: &mut String) {
        for token in tokens {
            match token {
                TokenTree::Group(group) => {
                    let (open, close) = match group.delimiter() {
                        proc_macro2::Delimiter::Parenthesis => ("(", ")"),
                        proc_macro2::Delimiter::Brace => ("{", "}"),
                        proc_macro2::Delimiter::Bracket => ("[", "]"),
                        proc_macro2::Delimiter::None => ("", ""),
                    };
                    text.push_str(open);
                    write(group.stream(), text);
                    text.push_str(close);
                }
                other => {
                    let _ = write!(text, "{other} ");
                }
            }
        }
    }
    let mut text = String::new();
    write(tokens, &mut text);
    text
}

#[cfg(test)]
mod tests;
