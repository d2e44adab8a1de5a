//! JSON literals whose values are checked: `serde_json` writes NaN and infinite numbers as null.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Expr, Ident, Token, braced, bracketed, parenthesized, token};

/// The expression that makes a literal's value.
pub fn json(literal: TokenStream) -> syn::Result<TokenStream> {
    Ok(syn::parse2::<Literal>(literal)?.0)
}

/// The expression of a part of a literal.
struct Literal(TokenStream);

impl Parse for Literal {
    fn parse(input: ParseStream<'_>) -> syn::Result<Literal> {
        if input.peek(token::Brace) {
            let inside;
            braced!(inside in input);
            let entries: Vec<_> = Punctuated::<Entry, Token![,]>::parse_terminated(&inside)?.into_iter().collect();
            let (keys, values) = (entries.iter().map(|entry| &entry.key), entries.iter().map(|entry| &entry.value));
            return Ok(Literal(quote! {{
                #[allow(unused_mut)]
                let mut object = ::trailblaze_tools::private::Map::new();
                #(object.insert(::std::convert::Into::into(#keys), #values);)*
                ::trailblaze_tools::private::Value::Object(object)
            }}));
        }
        if input.peek(token::Bracket) {
            let inside;
            bracketed!(inside in input);
            let items = Punctuated::<Literal, Token![,]>::parse_terminated(&inside)?;
            let items = items.iter().map(|item| &item.0);
            return Ok(Literal(quote!(::trailblaze_tools::private::Value::Array(::std::vec![#(#items),*]))));
        }
        if input.peek(Ident) && input.fork().parse::<Ident>()? == "null" {
            input.parse::<Ident>()?;
            return Ok(Literal(quote!(::trailblaze_tools::private::Value::Null)));
        }
        let value: Expr = input.parse()?;
        let whole = quote!((#value));
        // With the place of the value, which the message of a failure names.
        Ok(Literal(quote_spanned!(value.span()=> ::trailblaze_tools::private::json_value(&#whole))))
    }
}

/// A key of an object, and its value.
struct Entry {
    key: TokenStream,
    value: TokenStream,
}

impl Parse for Entry {
    fn parse(input: ParseStream<'_>) -> syn::Result<Entry> {
        let key = if input.peek(token::Paren) {
            let inside;
            parenthesized!(inside in input);
            inside.parse()?
        } else {
            let key: Expr = input.parse()?;
            quote!(#key)
        };
        input.parse::<Token![:]>()?;
        let Literal(value) = input.parse()?;
        Ok(Entry { key, value })
    }
}
