//! Schemas that earlier runs have compiled.
//!
//! A schema is held against the schema of schemas when it is compiled. The library keeps that one, but in WebAssembly it makes
//! it anew each time, in milliseconds, which is many times what the rest of a short run takes. So there the schemas of earlier
//! runs are kept, as far as they fit into the memory that a run may use.

use std::cell::RefCell;

use super::{Compiled, Kept};

/// What is kept, without and with padding.
#[derive(Debug, Default)]
struct Earlier([RefCell<Kept<Compiled>>; 2]);

impl Earlier {
    fn of(&self, schema: &[u8], is_padded: bool, compile: impl FnOnce() -> Compiled) -> Compiled {
        let kept = &self.0[usize::from(is_padded)];
        if let Some(known) = kept.borrow().known.get(schema) {
            return Compiled::clone(known);
        }
        let outcome = compile();
        kept.borrow_mut().insert(schema, Compiled::clone(&outcome), super::size_of(&outcome, schema));
        outcome
    }
}

#[cfg(target_family = "wasm")]
thread_local! {
    static EARLIER: Earlier = Earlier::default();
}

/// The schema with this text, if an earlier run has compiled it, and otherwise as it is compiled now.
#[cfg(target_family = "wasm")]
pub(crate) fn or_compile(schema: &[u8], is_padded: bool, compile: impl FnOnce() -> Compiled) -> Compiled {
    EARLIER.with(|earlier| earlier.of(schema, is_padded, compile))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{Schema, Unusable};

    #[test]
    fn a_schema_is_compiled_once_for_each_way_to_read_it() {
        let earlier = Earlier::default();
        let of = |schema: &[u8], is_padded| {
            let mut count = 0;
            let found = earlier.of(schema, is_padded, || {
                count += 1;
                Arc::new(Schema::compile(schema, is_padded))
            });
            (count, found.as_ref().as_ref().err().cloned())
        };
        let padded = br#"{"type": "object", "required": null}"#;
        let wrong = Some(Unusable::NoSchema("/required".to_owned()));
        assert_eq!(of(padded, false), (1, wrong.clone()));
        assert_eq!(of(padded, true), (1, None));
        assert_eq!(of(padded, false), (0, wrong));
        assert_eq!(of(padded, true), (0, None));
    }
}
