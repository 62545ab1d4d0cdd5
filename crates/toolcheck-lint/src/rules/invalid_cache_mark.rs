use crate::rule::declare_rule;

declare_rule! {
    /// A mark for the cache where none may be, or one too many.
    ///
    /// ## Why is this bad?
    ///
    /// The marks that divide a request for the cache are limited in number, order and place.
    ///
    /// ## What to do
    ///
    /// Keep the last four marks, the long-lived ones first, and none on an empty text.
    "invalid-cache-mark", since "0.1.0", explained
}
