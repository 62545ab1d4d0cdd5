//! What a walk finds wrong: problems of values, and the faults that they become.

use std::borrow::Cow;
use std::cmp::Reverse;

use toolcheck_json::{NodeId, Value};

use super::check::{Above, Checker, MOST_KEYS, Scope};
use super::compile::{CheckKind, Field, Object};
use super::fault::{Detail, PathStep, ShapeFault};
use super::tables::{JsonType, ShapeFaultKind};
use super::value::type_of;

/// What is wrong, and why.
pub(super) struct Problem<'f> {
    pub(super) kind: ShapeFaultKind,
    pub(super) detail: Detail<'f>,
    pub(super) cause: Cause<'f>,
}

impl<'f> Problem<'f> {
    /// Without details.
    pub(super) fn of(kind: ShapeFaultKind, cause: Cause<'f>) -> Self {
        Self { kind, detail: Detail::None, cause }
    }
}

/// Why there is a fault.
#[derive(Clone, Copy, Default)]
pub(super) struct Cause<'f> {
    pub(super) fact: Option<usize>,
    pub(super) check: Option<&'f CheckKind>,
}

impl Cause<'_> {
    pub(super) fn of(fact: Option<usize>) -> Self {
        Self { fact, check: None }
    }
}

/// A key, what is there, and the last steps to it.
struct Keyed<'f, 'd, 's> {
    key: Cow<'f, str>,
    field: Option<&'f Field>,
    value: Option<Value<'d, 's>>,
    steps: [Option<PathStep>; 2],
}

impl<'f, 'd, 's> Checker<'f, 'd, 's> {
    #[cold]
    #[inline(never)]
    pub(super) fn element_type(
        &mut self,
        object: &'f Object,
        field: &'f Field,
        element: Value<'d, 's>,
        expected: &'f [JsonType],
        suffix: &str,
        within: Scope<'f>,
    ) {
        let key: Cow<'f, str> = Cow::Owned(format!("{}{suffix}", field.key));
        // One finding for those of a type: what is wrong with one element is usually wrong with all.
        let parent = self.above.last().map(|above| above.value.id());
        let detail = Detail::Types { expected, got: type_of(element) };
        let is_same = |fault: &ShapeFault<'_>| {
            let is_of_type = matches!(fault.detail, Detail::Types { got, .. } if got == type_of(element));
            Some(fault.parent) == parent && fault.key == key && is_of_type
        };
        if self.faults.last().is_some_and(is_same) {
            return;
        }
        let last = self.path.pop();
        let before = self.path.pop();
        let document = element.document();
        let steps = [before, last].map(|step| step.map(|step| PathStep::of(&step, document)));
        let keyed = Keyed { key, field: Some(field), value: Some(element), steps };
        let problem = Problem { kind: ShapeFaultKind::Type, detail, cause: Cause::default() };
        self.push_keyed(object, keyed, problem, within);
        self.path.extend(before);
        self.path.extend(last);
    }

    #[cold]
    #[inline(never)]
    pub(super) fn at_path(
        &mut self,
        object: &'f Object,
        field: &'f Field,
        value: Value<'d, 's>,
        problem: Problem<'f>,
        within: Scope<'f>,
    ) {
        let last = self.path.pop();
        self.report(object, &field.key, Some(value), problem, within);
        self.path.extend(last);
    }

    /// Adds a fault of a field of the object at the end of the path.
    #[cold]
    #[inline(never)]
    pub(super) fn report(
        &mut self,
        object: &'f Object,
        key: &'f str,
        value: Option<Value<'d, 's>>,
        problem: Problem<'f>,
        within: Scope<'f>,
    ) {
        let field = object.field(key);
        self.push(object, Cow::Borrowed(key), field, value, problem, within);
    }

    #[cold]
    #[inline(never)]
    pub(super) fn push(
        &mut self,
        object: &'f Object,
        key: Cow<'f, str>,
        field: Option<&'f Field>,
        value: Option<Value<'d, 's>>,
        problem: Problem<'f>,
        within: Scope<'f>,
    ) {
        let own = (!key.is_empty()).then(|| PathStep::Key((&*key).into()));
        let keyed = Keyed { key, field, value, steps: [own, None] };
        self.push_keyed(object, keyed, problem, within);
    }

    #[cold]
    #[inline(never)]
    fn push_keyed(
        &mut self,
        object: &'f Object,
        keyed: Keyed<'f, 'd, 's>,
        problem: Problem<'f>,
        within: Scope<'f>,
    ) {
        let Problem { kind, detail, cause } = problem;
        let Some(Above { value: parent, .. }) = self.above.last().copied() else { return };
        let (name, unmet) = (self.name(), self.unmet(object, parent));
        let keyed_key = keyed.key.clone();
        let own_steps = keyed.steps.iter().flatten().count();
        let way = self.path.iter().map(|step| PathStep::of(step, parent.document()));
        let path: Vec<PathStep> = way.chain(keyed.steps.into_iter().flatten()).collect();
        self.faults.push(ShapeFault {
            kind,
            object,
            field: keyed.field,
            key: keyed.key,
            parent: parent.id(),
            value: keyed.value.map(Value::id),
            own_steps,
            path,
            schema_start: within.start,
            detail,
            fact: cause.fact.map(|fact| self.shape.fact(fact)),
            check: cause.check,
            rule: within.rule,
            name,
            unmet,
            element: self.element().unwrap_or(parent.id()),
            around: within.around,
            likely: self.likely(kind, object, &keyed_key, parent),
            shape: self.shape,
            above: self.above.iter().map(|above| (above.value.id(), above.kind)).collect(),
            alike: Vec::new(),
        });
    }

    /// The variant that an object fits best which lacks the key that says what it is.
    fn likely(
        &self,
        kind: ShapeFaultKind,
        object: &'f Object,
        key: &str,
        value: Value<'d, 's>,
    ) -> Option<&'f str> {
        let by = object.by.as_ref().filter(|by| kind == ShapeFaultKind::Missing && *by.key == *key)?;
        // How many more of its keys a variant knows than it does not know and misses, if it knows all or misses none.
        let fit = |variant: &Object| {
            let required = variant.required.iter().map(|field| &variant.fields[usize::from(*field)]);
            let is_missing = |field: &&Field| *field.key != *by.key && value.get(&field.key).is_none();
            let missing = required.filter(is_missing).count();
            let keys = || value.members().take(MOST_KEYS).filter_map(Value::key_text);
            let known = keys().filter(|key| variant.field(key).is_some_and(|field| field.is_known)).count();
            let unknown = keys().count() - known;
            (missing == 0 || unknown == 0).then(|| known.checked_sub(missing + unknown)).flatten()
        };
        let rated = by
            .values
            .iter()
            .filter_map(|(value, variant)| Some((fit(&self.shape.objects[*variant])?, value)));
        // Of equals the one with the shortest name, which is the most general.
        let best = rated.rev().max_by_key(|(fit, value)| (*fit, Reverse(value.len())));
        best.filter(|(fit, _)| *fit > 0).map(|(_, value)| &**value)
    }

    /// The innermost object that is an element of an array.
    pub(super) fn element(&self) -> Option<NodeId> {
        self.above.iter().rev().find(|above| above.is_element).map(|above| above.value.id())
    }

    /// The name of the innermost object that has one: of the tool, for what is below it.
    fn name(&mut self) -> Option<NodeId> {
        for Above { value: object, .. } in self.above.iter().skip(1).rev() {
            let named = *self
                .names
                .entry(object.id())
                .or_insert_with(|| object.get("name").filter(|name| name.is_string()).map(Value::id));
            if named.is_some() {
                return named;
            }
        }
        None
    }
}
