//! As much of predicates and class chains as tests need: comparisons of attributes, joined by AND.

use crate::source::XcElement;

/// Comparisons that must all hold.
pub struct Predicate(Vec<Comparison>);

struct Comparison {
    attribute: String,
    operator: String,
    value: String,
}

const OPERATORS: [&str; 5] = ["==", "!=", "BEGINSWITH", "CONTAINS", "ENDSWITH"];

impl Predicate {
    /// `None` if it is not valid, or not simulated.
    pub fn parse(text: &str) -> Option<Predicate> {
        text.split(" AND ").map(Comparison::parse).collect::<Option<Vec<_>>>().map(Predicate)
    }

    pub fn holds(&self, element: &XcElement) -> bool {
        self.0.iter().all(|comparison| comparison.holds(element))
    }
}

impl Comparison {
    fn parse(text: &str) -> Option<Comparison> {
        let (attribute, rest) = text.trim().split_once(' ')?;
        let (operator, value) = rest.trim().split_once(' ')?;
        let value = value.trim();
        let is_quoted = |sign: char| value.len() >= 2 && value.starts_with(sign) && value.ends_with(sign);
        if !OPERATORS.contains(&operator) || !(is_quoted('\'') || is_quoted('"')) {
            return None;
        }
        let value = value[1..value.len() - 1].to_string();
        Some(Comparison { attribute: attribute.to_string(), operator: operator.to_string(), value })
    }

    fn holds(&self, element: &XcElement) -> bool {
        let own = match self.attribute.as_str() {
            "label" => element.label.clone(),
            "name" => element.name().unwrap_or_default().to_string(),
            "value" => element.wd_value().unwrap_or_default(),
            "type" => format!("XCUIElementType{}", element.kind),
            _ => return false,
        };
        match self.operator.as_str() {
            "==" => own == self.value,
            "!=" => own != self.value,
            "BEGINSWITH" => own.starts_with(&self.value),
            "CONTAINS" => own.contains(&self.value),
            _ => own.ends_with(&self.value),
        }
    }
}

/// A path of types: `**/XCUIElementTypeCell[`label BEGINSWITH 'Rent'`]/XCUIElementTypeButton[2]`.
pub struct ClassChain(Vec<Link>);

struct Link {
    is_anywhere: bool,
    kind: String,
    predicate: Option<Predicate>,
    /// Which of those that match, from 1; the last ones are negative.
    position: Option<i64>,
}

impl ClassChain {
    /// `None` if it is not valid, or not simulated.
    pub fn parse(text: &str) -> Option<ClassChain> {
        let mut links = Vec::new();
        let mut is_anywhere = false;
        for part in text.split('/') {
            if part == "**" {
                is_anywhere = true;
                continue;
            }
            links.push(Link::parse(part, std::mem::take(&mut is_anywhere))?);
        }
        (!links.is_empty() && !is_anywhere).then_some(ClassChain(links))
    }

    pub fn find<'a>(&self, root: &'a XcElement) -> Vec<&'a XcElement> {
        let mut found = vec![root];
        for link in &self.0 {
            found = found.into_iter().flat_map(|element| link.find(element)).collect();
        }
        found
    }
}

impl Link {
    fn parse(part: &str, is_anywhere: bool) -> Option<Link> {
        let (kind, mut rest) = part.split_at(part.find('[').unwrap_or(part.len()));
        let kind =
            if kind == "*" { "" } else { kind.strip_prefix("XCUIElementType").filter(|kind| !kind.is_empty())? };
        let mut link = Link { is_anywhere, kind: kind.to_string(), predicate: None, position: None };
        while let Some(inner) = rest.strip_prefix('[') {
            let (inner, after) = inner.split_once(']')?;
            match inner.strip_prefix('`').and_then(|inner| inner.strip_suffix('`')) {
                Some(predicate) => link.predicate = Some(Predicate::parse(predicate)?),
                None => link.position = Some(inner.parse().ok().filter(|position| *position != 0)?),
            }
            rest = after;
        }
        rest.is_empty().then_some(link)
    }

    fn find<'a>(&self, element: &'a XcElement) -> Vec<&'a XcElement> {
        let candidates: Vec<&XcElement> = match self.is_anywhere {
            true => element.walk().into_iter().skip(1).collect(),
            false => element.children.iter().collect(),
        };
        let is_wanted = |one: &&XcElement| {
            (self.kind.is_empty() || one.kind == self.kind)
                && self.predicate.as_ref().is_none_or(|predicate| predicate.holds(one))
        };
        let found: Vec<&XcElement> = candidates.into_iter().filter(is_wanted).collect();
        let index = match self.position {
            None => return found,
            Some(position) if position > 0 => usize::try_from(position - 1).ok(),
            Some(position) => usize::try_from(-position).ok().and_then(|back| found.len().checked_sub(back)),
        };
        index.and_then(|index| found.get(index).copied()).into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_a_predicate_or_a_chain_is_refused() {
        for wrong in ["", "label", "label == Pay", "label LIKES 'Pay'", "label == 'a' AND"] {
            assert!(Predicate::parse(wrong).is_none(), "{wrong}");
        }
        for wrong in
            ["", "**", "**/Button", "XCUIElementTypeCell[0]", "XCUIElementTypeCell[`x`]", "XCUIElementTypeCell[1"]
        {
            assert!(ClassChain::parse(wrong).is_none(), "{wrong}");
        }
    }
}
