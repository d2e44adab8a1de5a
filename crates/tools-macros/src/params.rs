//! The parameters of a tool's function: the context, the tool's arguments one by one, or all of them as one struct.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::spanned::Spanned;
use syn::{Attribute, Expr, FnArg, GenericArgument, Ident, LitStr, Pat, PatType, PathArguments, Type};

use crate::flags::documentation;

/// What a function takes.
pub struct Params {
    /// What is passed to it, in order.
    pub passed: Vec<TokenStream>,
    pub args: ArgsShape,
}

/// The arguments of a tool.
pub enum ArgsShape {
    /// One by one, each a field of a struct that the macro writes.
    Flat(Vec<ArgField>),
    /// A struct of the author's.
    Struct(Box<Type>),
}

/// One argument as a field.
pub struct ArgField {
    pub field: TokenStream,
    /// The function that returns its default.
    pub default: Option<TokenStream>,
}

impl Params {
    /// Reads the parameters of the function `tool` after `&self`, and removes what only the macro understands.
    pub fn take<'a>(tool: &Ident, inputs: impl Iterator<Item = &'a mut FnArg>) -> syn::Result<Params> {
        let (mut passed, mut fields, mut whole) = (Vec::new(), Vec::new(), None);
        for input in inputs {
            let FnArg::Typed(param) = input else { continue };
            if is_context(&param.ty) {
                passed.push(quote!(cx));
                continue;
            }
            if let Some(inner) = wrapped(&param.ty, "Args") {
                if whole.replace(inner.clone()).is_some() {
                    return Err(syn::Error::new(param.span(), "a tool has one struct of arguments"));
                }
                passed.push(quote!(::trailblaze_tools::Args(args)));
                continue;
            }
            let (field, pass) = flat(tool, param)?;
            fields.push(field);
            passed.push(pass);
        }
        let args = match whole {
            Some(ty) if fields.is_empty() => ArgsShape::Struct(Box::new(ty)),
            Some(ty) => {
                let text = "a tool takes either a struct, `Args(…): Args<…>`, or single arguments";
                return Err(syn::Error::new(ty.span(), text));
            }
            None => ArgsShape::Flat(fields),
        };
        Ok(Params { passed, args })
    }
}

/// One argument: the field of the struct, and how it is passed on.
fn flat(tool: &Ident, param: &mut PatType) -> syn::Result<(ArgField, TokenStream)> {
    let Pat::Ident(pattern) = &*param.pat else {
        return Err(syn::Error::new(param.pat.span(), "an argument of a tool has a name"));
    };
    let name = pattern.ident.clone();
    let doc = documentation(&param.attrs).map(|doc| quote!(#[doc = #doc]));
    let (rename, default) = settings(&param.attrs)?;
    param.attrs.retain(|attribute| !attribute.path().is_ident("doc") && !attribute.path().is_ident("arg"));
    let Owned { ty, pass, is_text } = owned(&name, &param.ty)?;
    let rename = rename.map(|rename| quote!(#[serde(rename = #rename)]));
    let default = default.map(|value| {
        let function = format_ident!("default_{tool}_{name}");
        let path = LitStr::new(&function.to_string(), name.span());
        let value = if is_text { quote!(::std::string::String::from(#value)) } else { quote!(#value) };
        (quote!(#[serde(default = #path)]), quote!(fn #function() -> #ty { #value }))
    });
    let (attribute, default) = default.unzip();
    Ok((ArgField { field: quote! { #doc #rename #attribute #name: #ty, }, default }, pass))
}

/// Reads `#[arg(name = "…", default = …)]`.
fn settings(attributes: &[Attribute]) -> syn::Result<(Option<LitStr>, Option<Expr>)> {
    let (mut rename, mut default) = (None, None);
    for attribute in attributes.iter().filter(|attribute| !attribute.path().is_ident("doc")) {
        if !attribute.path().is_ident("arg") {
            continue;
        }
        attribute.parse_nested_meta(|meta| {
            if meta.path.is_ident("name") {
                rename = Some(meta.value()?.parse()?);
            } else if meta.path.is_ident("default") {
                default = Some(meta.value()?.parse()?);
            } else {
                return Err(meta.error("unknown setting of an argument; there are `name` and `default`"));
            }
            Ok(())
        })?;
    }
    Ok((rename, default))
}

/// How an argument is held, and passed on.
struct Owned {
    ty: TokenStream,
    pass: TokenStream,
    is_text: bool,
}

/// `&str` is held as a `String`, and a slice as a `Vec`.
fn owned(name: &Ident, ty: &Type) -> syn::Result<Owned> {
    let is_str = |ty: &Type| matches!(ty, Type::Path(path) if path.path.is_ident("str"));
    let text = quote!(::std::string::String);
    if let Type::Reference(reference) = ty {
        return match &*reference.elem {
            inner if is_str(inner) => Ok(Owned { ty: text, pass: quote!(&args.#name), is_text: true }),
            Type::Slice(slice) => {
                let item = &slice.elem;
                Ok(Owned { ty: quote!(::std::vec::Vec<#item>), pass: quote!(&args.#name), is_text: false })
            }
            _ => {
                let text = "an argument of a tool is `&str`, `&[…]` or a type without a reference";
                Err(syn::Error::new(ty.span(), text))
            }
        };
    }
    if let Some(Type::Reference(reference)) = wrapped(ty, "Option")
        && is_str(&reference.elem)
    {
        let ty = quote!(::core::option::Option<#text>);
        return Ok(Owned { ty, pass: quote!(args.#name.as_deref()), is_text: false });
    }
    Ok(Owned { ty: quote!(#ty), pass: quote!(args.#name), is_text: false })
}

fn is_context(ty: &Type) -> bool {
    let Type::Reference(reference) = ty else { return false };
    matches!(&*reference.elem, Type::Path(path)
        if path.path.segments.last().is_some_and(|segment| segment.ident == "ToolContext"))
}

/// The type in `Name<…>`.
fn wrapped<'a>(ty: &'a Type, name: &str) -> Option<&'a Type> {
    let Type::Path(path) = ty else { return None };
    let segment = path.path.segments.last().filter(|segment| segment.ident == name)?;
    let PathArguments::AngleBracketed(arguments) = &segment.arguments else { return None };
    match arguments.args.first()? {
        GenericArgument::Type(inner) if arguments.args.len() == 1 => Some(inner),
        _ => None,
    }
}
