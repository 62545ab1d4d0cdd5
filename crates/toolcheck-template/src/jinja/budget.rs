//! What a render may cost.

use std::cell::Cell;

use super::args::Args;
use super::fault::{Step, too_much};
use super::value::Value;

thread_local! {
    /// What is left of the work of the render on this thread. Comparing and printing have no errors to return, and values
    /// that share their parts can be larger than all memory when they are gone through.
    static WORK: Cell<u64> = const { Cell::new(u64::MAX) };
}

/// The bytes of a text, or the items of a list, that are worth a step.
pub(crate) const PER_STEP: usize = 32;

/// The bytes of a text, or the items of what has some.
pub(crate) fn size(value: &Value) -> usize {
    match value {
        Value::Str(text) => text.as_str().len(),
        Value::Big(digits) => digits.len(),
        Value::List(list) | Value::Tuple(list) => list.items.len(),
        Value::Dict(dict) | Value::View(dict, _) => dict.entries.len(),
        Value::Range(range) => usize::try_from(super::value::range_length(range)).unwrap_or(usize::MAX),
        _ => 0,
    }
}

/// The steps that it takes to go through a value once.
pub(crate) fn weight(value: &Value) -> usize {
    size(value) / PER_STEP
}

/// Counts a piece of work. Says whether there may be more: what goes through a value stops otherwise, and the next step of
/// the render is an error.
pub(crate) fn work(steps: usize) -> bool {
    WORK.with(|work| {
        let left = work.get().saturating_sub(steps as u64);
        work.set(left);
        left > 0
    })
}

/// What is left of the limits of a render.
#[derive(Debug)]
pub(crate) struct Budget {
    steps: Cell<u64>,
    bytes: Cell<u64>,
    longest: u64,
}

impl Budget {
    /// So many steps and so many bytes in all, and no text longer than `longest`.
    pub(crate) fn new(steps: u64, bytes: u64, longest: u64) -> Self {
        WORK.with(|work| work.set(steps));
        Self { steps: Cell::new(steps), bytes: Cell::new(bytes), longest }
    }

    pub(crate) fn step(&self) -> Step<()> {
        match self.steps.get().checked_sub(1).filter(|_| work(0)) {
            Some(left) => {
                self.steps.set(left);
                Ok(())
            }
            None => too_much("the template takes too many steps"),
        }
    }

    pub(crate) fn go_through(&self, value: &Value) -> Step<()> {
        work(weight(value));
        self.step()
    }

    /// Counts what a filter, a test, a function or a method may go through: its value and its arguments.
    pub(crate) fn apply(&self, value: &Value, args: &Args) -> Step<()> {
        let values = args.positional.iter().chain(args.named.iter().map(|(_, value)| value));
        work(values.map(|value| weight(value) + 1).sum());
        self.go_through(value)
    }

    /// Counts the bytes of a new text. Called before the text is made where a template says how long it is.
    pub(crate) fn charge(&self, bytes: usize) -> Step<()> {
        if bytes as u64 > self.longest {
            return too_much("the template makes too long a text");
        }
        match self.bytes.get().checked_sub(bytes as u64 + 16) {
            Some(left) => {
                self.bytes.set(left);
                Ok(())
            }
            None => too_much("the template makes too many texts"),
        }
    }

    /// An error if a text is too long.
    pub(crate) fn check_length(&self, bytes: usize) -> Step<()> {
        if bytes as u64 > self.longest { too_much("the template makes too long a text") } else { Ok(()) }
    }

    /// Counts the items of a new list.
    pub(crate) fn charge_items(&self, items: usize) -> Step<()> {
        self.charge(items.saturating_mul(size_of::<Value>()))
    }
}

#[cfg(test)]
mod tests {
    use toolcheck_json::Document;

    use crate::jinja::{access, filters, predicates};
    use crate::{Input, Limits, RefusalKind, Template};

    /// Whether the budget ends what goes through 64 kB a thousand times: 40,000 steps are worth 1.3 MB, and new texts
    /// may take 32 MB.
    fn ends(expression: &str) -> Option<RefusalKind> {
        let source = format!(
            "{{% set a = 'a' * 65536 %}}{{% set a2 = 'a' * 65536 %}}{{% set b = 'a' * 32768 + 'b' %}}{{% set e = 'é' * 32768 %}}\
             {{% set l = range(8192)|list %}}{{% set l2 = range(8192)|list %}}{{% set d = {{a: 1}} %}}{{% set n = {{'s': a}} %}}\
             {{% set s = namespace() %}}{{% for i in range(1000) %}}{{% set x = {expression} %}}{{% endfor %}}"
        );
        let body = Document::read(br#"{"messages": []}"#);
        let mut input = Input::of_request(body.root()).expect("it has messages");
        input.limits = Limits { steps: 40_000, bytes: 32 << 20, ..Limits::default() };
        Template::from_text(&source, &[]).render(&input).err().map(|refusal| refusal.kind)
    }

    #[test]
    fn whatever_goes_through_a_text_or_a_list_is_counted() {
        let expressions = "b in a; b not in a; a is in a2; e in a; -1 in l; a in [a2]; [a] == [a2]; l == l2; \
             l < l2; a == a2; a != a2; a < a2; a >= a2; a is eq(a2); d[a2]; a2 in d; {a: 1, a2: 2}; \
             a.b[a2]; n[a]; s[a]; e[-1]; e[30000]; e[-3:-2]; e[5:6]; l[1:2]; a[::9]; a ~ 1; a + '1'; \
             a * 2; l + l; (a, 1) == (a2, 2); '%s' % a; '{}'.format(a); [a]|select('odd'); \
             ['']|map('attr', a); ['']|map('replace', a, a); 'x'.join([a]); ''.startswith((a, a2)); \
             dict(l2); range(40000)|list; strftime_now(a); l|sum; l|min; [a]|sort; [a]|unique; \
             [a]|map(attribute=a)";
        for expression in expressions.split("; ") {
            assert!(ends(expression).is_some(), "{expression}");
        }
        for name in filters::KNOWN.split(' ') {
            for value in ["a", "e", "l"] {
                for arguments in ["", ", 1", ", a", ", a, b"] {
                    // What an error ends is gone through before it.
                    let expression = format!("[{value}]|map('{name}'{arguments})");
                    assert_eq!(ends(&expression), Some(RefusalKind::TooMuch), "{expression}");
                }
            }
        }
        for name in predicates::KNOWN.split(' ') {
            let is_of_type = ends(&format!("a is {name}")).is_none();
            let of_types = "boolean callable defined escaped false float integer iterable mapping none number sequence \
                            string true undefined";
            assert_eq!(is_of_type, of_types.split(' ').any(|own| own == name), "{name}");
        }
        for name in access::OF_TEXTS.iter() {
            for arguments in ["", "1", "a", "b, a", "b, 2, 9"] {
                let expression = format!("e.{name}({arguments})");
                assert!(ends(&expression).is_some(), "{expression}");
            }
        }
    }
}
