//! The ids of calls and responses: each run has the same.

use toolcheck_core::targets::Target;

pub(crate) fn id_form(target: Option<&Target>) -> &str {
    target.and_then(|target| target.ids.made.as_deref()).unwrap_or("call_{24}")
}

pub(crate) fn call_id(form: &str, turn: usize, call: usize) -> String {
    made(form, turn * 1000 + call + 1)
}

/// An id of this form with a number in its last place.
pub(crate) fn made(form: &str, number: usize) -> String {
    let Some((before, rest)) = form.split_once('{') else { return form.to_owned() };
    let (width, after) = rest.split_once('}').unwrap_or((rest, ""));
    let width: usize = width.parse().unwrap_or(24);
    let number_here = if after.contains('{') { 0 } else { number };
    format!("{before}{number_here:0>width$}{}", made(after, number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_have_the_form_of_the_target() {
        assert_eq!(made("chatcmpl-{5}", 12), "chatcmpl-00012");
        assert_eq!(made("{4}-4{3}-{5}x", 7), "0000-4000-00007x");
        assert_eq!(made("fixed", 7), "fixed");
    }
}
