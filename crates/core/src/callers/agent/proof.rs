//! Whether an assertion that held proves a check. It must be about the app, it must have been able to fail, and what it expects must
//! have to do with the statement. What cannot be decided here is doubtful: the model is told why, and may have it judged.

use serde_json::{Map, Value};

use crate::template;

/// What an assertion that held says about the statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Proof {
    Proved,
    /// It may prove the statement, but that cannot be seen from its words.
    Doubtful(String),
    /// It could not have failed, or has nothing to do with the app.
    Nothing(String),
}

/// An assertion that held.
pub struct Held<'a> {
    pub tool: &'a str,
    /// Whether the tool is the team's own, which knows best what it checks.
    pub is_custom: bool,
    pub args: &'a Map<String, Value>,
    /// The line of the element that its `ref` means.
    pub element: Option<&'a str>,
}

impl Held<'_> {
    /// Weighs the assertion. `is_remembered` says whether the memory has a value under a name.
    pub fn proof_of(&self, statement: &str, is_remembered: impl Fn(&str) -> bool) -> Proof {
        let tool = self.tool;
        if self.is_custom {
            return Proof::Proved;
        }
        if matches!(tool, "assertEquals" | "assertNotEquals") {
            return self.comparison(statement, is_remembered);
        }
        let expected = self.expected();
        let is_denial = tool.contains("Not");
        if is_denial && !is_related(&expected, statement) {
            return Proof::Nothing(format!(
                "the check does not mention {expected:?}, so that it is absent proves nothing"
            ));
        }
        if is_denial && !has_any(statement, DENIED) && !has_any(statement, GONE) {
            return Proof::Doubtful(format!(
                "`{tool}` proves that something is absent, and the check does not say that"
            ));
        }
        let is_whole = statement.to_lowercase().contains(expected.trim().to_lowercase().as_str());
        if !is_denial && is_whole && has_any(statement, DENIED) {
            return Proof::Doubtful(format!(
                "the check denies something, and `{tool}` proves that {expected:?} is there"
            ));
        }
        let named = named_values(statement);
        let has_one = || named.iter().any(|value| contains_value(&expected, value));
        if !is_denial && !named.is_empty() && !has_one() {
            let named: Vec<String> = named.iter().map(|value| format!("{value:?}")).collect();
            return Proof::Doubtful(format!(
                "the check names {}, and `{tool}` was about {expected:?}",
                named.join(", ")
            ));
        }
        if !is_related(&expected, statement) {
            return Proof::Doubtful(format!("the check and {expected:?} have no word in common"));
        }
        Proof::Proved
    }

    fn comparison(&self, statement: &str, is_remembered: impl Fn(&str) -> bool) -> Proof {
        let tool = self.tool;
        let side =
            |name: &str| self.args.get(name).map(|value| value.as_str().map_or(value.to_string(), str::to_string));
        let (actual, expected) = (side("actual").unwrap_or_default(), side("expected").unwrap_or_default());
        if actual.trim() == expected.trim() {
            return Proof::Nothing(format!("`{tool}` compared a value with itself"));
        }
        let sides = [&actual, &expected];
        if let Some(token) =
            sides.iter().flat_map(|text| template::tokens(text)).find(|token| !is_remembered(token.path))
        {
            return Proof::Nothing(format!("`{}` is not remembered, so `{tool}` compared its name", token.raw));
        }
        // What the trail itself says is a constant too.
        if sides.iter().flat_map(|text| template::tokens(text)).all(|token| token.path.starts_with("args.")) {
            return Proof::Nothing(format!("`{tool}` compared two constants"));
        }
        match sides.iter().filter(|text| !template::has_token(text)).collect::<Vec<_>>().as_slice() {
            [] => Proof::Proved,
            [literal] if is_related(literal, statement) => Proof::Proved,
            literals => Proof::Doubtful(format!(
                "the check does not mention {}",
                literals.iter().map(|text| format!("{text:?}")).collect::<Vec<_>>().join(", ")
            )),
        }
    }

    /// All that the assertion expects, in words.
    fn expected(&self) -> String {
        let mut words = Vec::new();
        for (name, value) in self.args {
            match name.as_str() {
                "ref" if self.element.is_some() => words.extend(self.element.map(str::to_string)),
                "reason" | "why" | "reasoning" | "timeoutMs" => {}
                _ => collect(value, &mut words),
            }
        }
        words.join(" ")
    }
}

fn collect(value: &Value, words: &mut Vec<String>) {
    match value {
        Value::String(text) => words.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| collect(item, words)),
        Value::Object(map) => map.values().for_each(|value| collect(value, words)),
        Value::Number(number) => words.push(number.to_string()),
        Value::Null | Value::Bool(_) => {}
    }
}

/// Words that say that something is not so, in languages that our users write. A word that is missing here costs one more request.
const DENIED: &str = "no not never none nothing nobody neither without cannot kein nicht nie ohne pas aucun sans jamais sin ningún \
    nunca nada non nessun senza não nenhum sem niet geen zonder brak bez inte ikke ingen не нет без ない ません なし 不 没 \
    沒 无 無 없 않";

/// Words that say that something is gone.
const GONE: &str = "gone empty absent missing hidden invisible disappear vanish remove delete dismiss close clear leer weg \
    verschwund entfernt gelöscht geschlossen vide disparu fermé supprimé vacío vacía desaparec cerrad vuot vazi \
    leeg пуст 空 消 閉 关闭 비어";

/// Words that are in every other sentence.
const COMMON: &str = "the and are was were has had have you your can for its this that there with from not now all any user page \
    screen shows shown visible displayed see der die das und ist les des est los las una";

/// Whether a text has one of these words, also with an ending or, in writing without spaces, as a part.
fn has_any(text: &str, words: &str) -> bool {
    let text = text.to_lowercase();
    let is_contracted = text.contains("n't") || text.contains("n’t");
    let mut own = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let is_one = |own: &str, word: &str| match word.chars().count() {
        0..=3 => own == word,
        _ => own.starts_with(word),
    };
    let is_unspaced = |word: &&str| word.chars().all(is_caseless);
    is_contracted
        || own.any(|own| words.split(' ').any(|word| is_one(own, word)))
        || words.split(' ').filter(is_unspaced).any(|word| text.contains(word))
}

/// A letter of a writing without upper and lower case, of which many have no spaces either.
fn is_caseless(c: char) -> bool {
    c.is_alphabetic() && !c.is_lowercase() && !c.is_uppercase()
}

/// The numbers that a statement names, and what it quotes.
fn named_values(statement: &str) -> Vec<String> {
    let mut values: Vec<String> = statement
        .split(|c: char| c.is_whitespace() || "()[]{}\"“”„«»".contains(c))
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()))
        .filter(|word| word.chars().any(|c| c.is_ascii_digit()))
        .map(str::to_string)
        .collect();
    for (open, close) in [('"', '"'), ('“', '”'), ('„', '“'), ('«', '»')] {
        let mut rest = statement;
        while let Some((_, after)) = rest.split_once(open) {
            let Some((quoted, after)) = after.split_once(close) else { break };
            values.extend((!quoted.trim().is_empty()).then(|| quoted.trim().to_string()));
            rest = after;
        }
    }
    values
}

/// Whether a text contains a value, however its digits are grouped.
fn contains_value(text: &str, value: &str) -> bool {
    if !value.chars().any(char::is_alphabetic) {
        let own = numbers(text);
        return numbers(value).iter().all(|number| own.contains(number));
    }
    let (text, value) = (text.trim().to_lowercase(), value.to_lowercase());
    text.contains(&value) || !text.is_empty() && value.contains(&text)
}

/// The numbers in a text, as digits: `120050` for `$1,200.50`.
fn numbers(text: &str) -> Vec<String> {
    let mut numbers: Vec<String> = Vec::new();
    let (mut is_inside, mut since_digit) = (false, 0);
    for c in text.chars() {
        match (c, numbers.last_mut()) {
            (digit, Some(last)) if digit.is_ascii_digit() && is_inside && since_digit <= 1 => last.push(digit),
            (digit, _) if digit.is_ascii_digit() => numbers.push(digit.to_string()),
            _ => {
                is_inside &= matches!(c, '.' | ',' | '\'' | '’');
                since_digit += 1;
                continue;
            }
        }
        (is_inside, since_digit) = (true, 0);
    }
    numbers
}

/// Whether two texts have a word in common, or two neighbouring characters of a writing without spaces.
fn is_related(one: &str, other: &str) -> bool {
    let (one, other) = (one.to_lowercase(), other.to_lowercase());
    fn words(text: &str) -> impl Iterator<Item = &str> {
        let words = text.split(|c: char| !c.is_alphanumeric());
        words.filter(|word| {
            (word.chars().count() > 2 || word.chars().any(|c| c.is_ascii_digit()))
                && !COMMON.split(' ').any(|common| common == *word)
        })
    }
    let is_same = |a: &str, b: &str| {
        let is_number = a.chars().any(|c| c.is_ascii_digit()) || b.chars().any(|c| c.is_ascii_digit());
        a == b || !is_number && (a.starts_with(b) || b.starts_with(a))
    };
    fn pairs(text: &str) -> impl Iterator<Item = (char, char)> {
        text.chars().zip(text.chars().skip(1)).filter(|(a, b)| is_caseless(*a) && is_caseless(*b))
    }
    words(&one).any(|a| words(&other).any(|b| is_same(a, b))) || pairs(&one).any(|a| pairs(&other).any(|b| a == b))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(statement: &str, tool: &str, args: Value, expected: &str) {
        let args = args.as_object().cloned().unwrap();
        let element = args.get("ref").map(|_| "textbox \"Total: 12.50\"");
        let held = Held { tool, is_custom: false, args: &args, element };
        let proof = held.proof_of(statement, |name| matches!(name, "total" | "other" | "args.x"));
        let found = match &proof {
            Proof::Proved => "proved",
            Proof::Doubtful(_) => "doubtful",
            Proof::Nothing(_) => "nothing",
        };
        assert_eq!(found, expected, "{statement}: {tool} {args:?}: {proof:?}");
    }

    #[test]
    fn an_assertion_of_what_the_check_names_proves_it() {
        check("The order is placed", "assertVisible", json!({"text": "Order placed"}), "proved");
        check("One can pay", "assertVisible", json!({"text": "Pay"}), "proved");
        check("The balance is $1,200.50", "assertVisible", json!({"text": "$1200.50"}), "proved");
        check("It costs 12.50", "assertVisible", json!({"ref": "e7"}), "proved");
        check("The title is \"Welcome back\"", "web_verifyTextVisible", json!({"text": "Welcome back"}), "proved");
        check("Die Bestellung ist eingegangen", "assertVisible", json!({"text": "Bestellung 7 eingegangen"}), "proved");
        check("注文が完了した", "assertVisible", json!({"text": "注文番号"}), "proved");
        check("The cart is empty", "assertNotVisibleWithText", json!({"text": "Items in the cart"}), "proved");
        check("The error isn't shown", "assertNotVisibleWithText", json!({"text": "Error"}), "proved");
        check("エラーが表示されない", "assertNotVisibleWithText", json!({"text": "エラー"}), "proved");
    }

    #[test]
    fn numbers_are_compared_by_their_digits() {
        assert_eq!(numbers("$1,200.50 for 2 of 5, 10:30."), ["120050", "2", "5", "10", "30"]);
        assert!(contains_value("at 10:30", "10:30") && !contains_value("1030", "10:30"));
    }

    #[test]
    fn what_could_not_fail_proves_nothing() {
        check("The total is 5", "assertEquals", json!({"actual": "{{total}}", "expected": "{{total}}"}), "nothing");
        check("The total is 5", "assertEquals", json!({"actual": "{{a}}", "expected": "{{b}}"}), "nothing");
        check("The total is 5", "assertNotEquals", json!({"actual": "{{a}}", "expected": "5"}), "nothing");
        check("The total is 5", "assertEquals", json!({"actual": "5", "expected": "5"}), "nothing");
        check("The total is 5", "assertNotEquals", json!({"actual": "5", "expected": "6"}), "nothing");
        check("The cart is empty", "assertNotVisibleWithText", json!({"text": "zzzz"}), "nothing");
        check("The total is 5", "assertEquals", json!({"actual": "{{total}}", "expected": "5"}), "proved");
        check("It is 5", "assertEquals", json!({"actual": "{{args.x}}", "expected": "5"}), "nothing");
        check("The totals agree", "assertEquals", json!({"actual": "{{total}}", "expected": "{{other}}"}), "proved");
        check("The total is 5", "assertEquals", json!({"actual": "{{total}}", "expected": "7"}), "doubtful");
    }

    #[test]
    fn the_opposite_and_the_unrelated_are_doubtful() {
        check("The error is shown", "assertNotVisibleWithText", json!({"text": "Error"}), "doubtful");
        check("The error is not shown", "assertVisible", json!({"text": "Error"}), "doubtful");
        check("The balance is $100", "assertVisible", json!({"text": "Help"}), "doubtful");
        check("The balance is $100", "assertVisible", json!({"text": "Your balance"}), "doubtful");
        check("The balance is $100", "assertVisible", json!({"text": "Balance: $1000"}), "doubtful");
        check("The title is \"Welcome\"", "assertVisible", json!({"text": "The title"}), "doubtful");
        check("The order is placed", "assertVisible", json!({"text": "Thank you"}), "doubtful");
        check("The order is placed", "assertVisibleWithText", json!({"text": ".*"}), "doubtful");
    }
}
