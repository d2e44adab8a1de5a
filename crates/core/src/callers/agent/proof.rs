//! Whether an assertion that held proves a check. It must be about the app, it must have been able to fail, and what it expects must
//! have to do with the statement. What cannot be decided here is doubtful: the model is told why, and may have it judged.

use serde_json::{Map, Value};

use super::claim::{Amount, Bound, ClaimedAmount, claimed_amount, claimed_state};
use crate::selector::{Case, Pattern};
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
        if let Some(doubt) = self.state_doubt(statement) {
            return Proof::Doubtful(doubt);
        }
        let amounts = self.amounts();
        let is_denial = ABSENCE.contains(&tool) || amounts.iter().any(|amount| amount.implies(NONE));
        if !amounts.is_empty() && !is_denial {
            return self.amount(statement, &amounts);
        }
        if let Some(text) = self.expected_text() {
            return self.text(statement, &text);
        }
        let expected = self.expected();
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
        // Whether a state is denied was read with it.
        if !is_denial && is_whole && tool != "assertState" && has_any(statement, DENIED) {
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

    /// Why the states that were asserted may not be those of the statement.
    fn state_doubt(&self, statement: &str) -> Option<String> {
        let states = self.args.iter().filter_map(|(name, value)| Some((name.as_str(), value.as_bool()?)));
        let mut states = states.filter(|(name, _)| FLAGS.contains(name));
        states.find_map(|(name, asserted)| match claimed_state(statement, name) {
            Some(claimed) if claimed == asserted => None,
            // The other assertions only look for elements in this state.
            None if self.tool != "assertState" => None,
            claimed => {
                let claimed = match claimed {
                    Some(_) => "says the opposite",
                    None => "does not clearly say that",
                };
                Some(format!("`{}` proved `{name}: {asserted}`, and the check {claimed}", self.tool))
            }
        })
    }

    /// The amounts that were asserted, of a number or of elements.
    fn amounts(&self) -> Vec<Amount> {
        let bounds = [
            ("equals", Bound::Equals),
            ("atLeast", Bound::AtLeast),
            ("atMost", Bound::AtMost),
            ("moreThan", Bound::MoreThan),
            ("lessThan", Bound::LessThan),
        ];
        let is_counted = matches!(self.tool, "assertNumber" | "assertCount");
        let given = bounds.into_iter().filter(|_| is_counted);
        given.filter_map(|(name, bound)| Some(Amount { bound, number: number(self.args.get(name)?)? })).collect()
    }

    fn amount(&self, statement: &str, amounts: &[Amount]) -> Proof {
        let tool = self.tool;
        let subject = self.expected();
        let shown = || amounts.iter().map(ToString::to_string).collect::<Vec<_>>().join(" and ");
        let is_count = tool == "assertCount";
        if is_count && amounts.iter().all(|amount| TRIVIAL_COUNT.implies(*amount)) {
            return Proof::Nothing(format!("`{tool}` with {} always holds", shown()));
        }
        let is_there = |amount: &Amount| amount.implies(SOME);
        match claimed_amount(statement) {
            ClaimedAmount::Is(claimed) if amounts.iter().any(|amount| amount.implies(claimed)) => {}
            ClaimedAmount::Is(claimed) => {
                return Proof::Doubtful(format!("the check says {claimed}, and `{tool}` proves {}", shown()));
            }
            ClaimedAmount::None if is_count && amounts.iter().any(is_there) && !has_any(statement, DENIED) => {}
            ClaimedAmount::None | ClaimedAmount::Unclear => {
                return Proof::Doubtful(format!("the check does not clearly say {}", shown()));
            }
        }
        // What was counted may be described by its role alone, and a number by its place.
        if is_related(&subject, statement) || !is_count {
            Proof::Proved
        } else {
            Proof::Doubtful(format!("the check and {subject:?} have no word in common"))
        }
    }

    /// What a text was asserted to be, if the assertion is about one.
    fn expected_text(&self) -> Option<String> {
        let is_about_text =
            matches!(self.tool, "assertText" | "assertValue" | "assertAttribute" | "web_assertUrl" | "web_assertTitle");
        let given = |name: &str| self.args.get(name).and_then(Value::as_str);
        let parts = ["is", "contains", "matches"].into_iter().filter_map(given);
        is_about_text.then(|| parts.collect::<Vec<_>>().join(" "))
    }

    /// Only the expected text counts: by its words the element was found, and it may have others later.
    fn text(&self, statement: &str, text: &str) -> Proof {
        let tool = self.tool;
        let given = |name: &str| self.args.get(name).and_then(Value::as_str);
        let is_any = |source: &str| {
            let pattern = Pattern::new(source, Case::Sensitive);
            ["", "q7 §", "x"].iter().all(|text| pattern.matches(text))
        };
        let is_open = given("is").is_none()
            && given("contains").is_none_or(|part| part.trim().is_empty())
            && given("matches").is_none_or(is_any);
        if is_open {
            return Proof::Nothing(format!("`{tool}` would hold for any text"));
        }
        let is_denied = has_any(statement, DENIED);
        if text.trim().is_empty() {
            return match has_any(statement, EMPTY) && !is_denied {
                true if is_related(&self.expected(), statement) => Proof::Proved,
                _ => {
                    Proof::Doubtful(format!("`{tool}` proves that something is empty, and the check does not say that"))
                }
            };
        }
        let is_whole = statement.to_lowercase().contains(text.trim().to_lowercase().as_str());
        if is_whole && is_denied {
            return Proof::Doubtful(format!("the check denies something, and `{tool}` proves {text:?}"));
        }
        let named = named_values(statement);
        if named.iter().any(|value| contains_value(text, value)) || named.is_empty() && is_related(text, statement) {
            return Proof::Proved;
        }
        Proof::Doubtful(match named.as_slice() {
            [] => format!("the check and {text:?} have no word in common"),
            named => {
                let named: Vec<String> = named.iter().map(|value| format!("{value:?}")).collect();
                format!("the check names {}, and `{tool}` expected {text:?}", named.join(", "))
            }
        })
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
                "reason" | "why" | "reasoning" | "timeoutMs" | "index" | "pattern" | "decimal" => {}
                _ => collect(value, &mut words),
            }
        }
        words.join(" ")
    }
}

/// The number of an argument, which a model may have written as text.
fn number(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str()?.trim().parse().ok())
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

/// The assertions that something is absent.
const ABSENCE: &[&str] =
    &["assertNotVisible", "assertNotVisibleBySelector", "assertNotVisibleWithText", "waitUntilNotVisible"];

/// The arguments that say which state an element is in.
const FLAGS: [&str; 5] = ["enabled", "checked", "selected", "focused", "inView"];

const NONE: Amount = Amount { bound: Bound::Equals, number: 0.0 };
const SOME: Amount = Amount { bound: Bound::AtLeast, number: 1.0 };
/// What holds of every count.
const TRIVIAL_COUNT: Amount = Amount { bound: Bound::AtLeast, number: 0.0 };

/// Words that say that a text is empty.
const EMPTY: &str = "empty blank cleared leer vide vacío vacía vuoto vazio leeg пуст 空";

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
    fn a_state_proves_what_says_the_same_of_it() {
        let state = |statement: &str, flag: &str, value: bool, expected: &str| {
            check(statement, "assertState", json!({"text": "Pay", flag: value}), expected);
        };
        state("Pay is enabled", "enabled", true, "proved");
        state("Pay is disabled", "enabled", false, "proved");
        state("Pay is not enabled", "enabled", false, "proved");
        state("One can pay", "enabled", true, "proved");
        state("Pay is disabled", "enabled", true, "doubtful");
        state("Pay isn't disabled", "enabled", false, "doubtful");
        state("Pay is there", "enabled", true, "doubtful");
        state("Pay is checked", "checked", false, "doubtful");
        state("Pay is not selected", "selected", false, "proved");
        state("Help is disabled", "enabled", false, "doubtful");
        check("Pay is disabled", "assertVisibleWithText", json!({"text": "Pay", "enabled": true}), "doubtful");
    }

    #[test]
    fn a_bound_proves_only_what_follows_from_it() {
        let number = |statement: &str, args: Value, expected: &str| check(statement, "assertNumber", args, expected);
        number("The balance is at least 10", json!({"id": "balance", "atLeast": 10}), "proved");
        number("The balance is at least 10", json!({"id": "balance", "moreThan": 10}), "proved");
        number("The balance is at least 10", json!({"id": "balance", "equals": 12}), "proved");
        number("The balance is at least 10", json!({"id": "balance", "atMost": 10}), "doubtful");
        number("The balance is at least 10", json!({"id": "balance", "atLeast": 9}), "doubtful");
        number("The balance is 10", json!({"id": "balance", "atLeast": 10}), "doubtful");
        number("The balance is 10", json!({"id": "balance", "equals": 10}), "proved");
        number("The balance is less than 10.50", json!({"id": "balance", "lessThan": 10.5}), "proved");
        number("The balance is right", json!({"id": "balance", "atLeast": 10}), "doubtful");
        let count = |statement: &str, args: Value, expected: &str| check(statement, "assertCount", args, expected);
        count("There are 3 items", json!({"text": "items", "equals": 3}), "proved");
        count("There are three items", json!({"text": "items", "equals": 2}), "doubtful");
        count("There are items", json!({"text": "items", "atLeast": 1}), "proved");
        count("There are items", json!({"text": "items", "atMost": 5}), "doubtful");
        count("There are no items", json!({"text": "items", "equals": 0}), "proved");
        count("There are items", json!({"text": "items", "equals": 0}), "doubtful");
        count("There are items", json!({"text": "items", "atLeast": 0}), "nothing");
        count("The order is placed", json!({"text": "zzzz", "equals": 0}), "nothing");
    }

    #[test]
    fn of_a_text_only_what_it_is_expected_to_be_counts() {
        let text = |statement: &str, args: Value, expected: &str| check(statement, "assertText", args, expected);
        text("It costs 12.50", json!({"ref": "e7", "contains": "12.50"}), "proved");
        text("It costs 12.50", json!({"ref": "e7", "contains": "Total"}), "doubtful");
        text("It costs 12.50", json!({"ref": "e7", "matches": ".*"}), "nothing");
        text("It costs 12.50", json!({"ref": "e7", "contains": ""}), "nothing");
        text("It does not cost 12.50", json!({"ref": "e7", "is": "12.50"}), "doubtful");
        check("The name is \"Ada\"", "assertValue", json!({"id": "name", "is": "Ada"}), "proved");
        check("The name is empty", "assertValue", json!({"id": "name", "is": ""}), "proved");
        check("The name is not empty", "assertValue", json!({"id": "name", "is": ""}), "doubtful");
        check("The cart is open", "web_assertUrl", json!({"contains": "/cart"}), "proved");
        check("The error is gone", "assertNotVisible", json!({"text": "error"}), "proved");
        check("The error is shown", "assertNotVisible", json!({"text": "error"}), "doubtful");
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
