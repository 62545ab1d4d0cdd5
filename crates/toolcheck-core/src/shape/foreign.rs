//! Objects that are written as another API has them.
//!
//! Whoever moves a conversation from one API to another forgets a tool or a block, which then has many faults and one
//! cause. An object that has faults is compared with the objects of the same kind in the other formats: if it has none
//! there, that is what it is.

use std::sync::OnceLock;

use rustc_hash::{FxHashMap, FxHashSet};
use toolcheck_json::{Document, NodeId, Value};

use super::check::Checker;
use super::compile::Object;
use super::fault::Fault;
use super::tables::{Enforced, FaultKind, Kind};
use super::{Shape, formats};
use crate::target;

/// An object that is written as another API has it.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Foreign<'f> {
    /// The object.
    pub node: NodeId,
    /// What it is.
    pub kind: Kind,
    /// The id of the format that it is written in.
    pub format: &'static str,
    /// The name of the API whose format it is.
    pub name: &'static str,
    /// How this API writes it: one line of JSON.
    pub example: Option<&'f str>,
    /// The number of the fault that the API names first.
    pub fault: usize,
}

impl Shape {
    /// The objects among the faulty ones that are written as another API has them, in the order of the file.
    #[must_use]
    pub fn foreign<'f>(&'f self, faults: &[Fault<'f>], document: &Document<'_>) -> Vec<Foreign<'f>> {
        let mut of_objects: FxHashMap<NodeId, Vec<usize>> = FxHashMap::default();
        for (number, fault) in faults.iter().enumerate() {
            if matches!(fault.above.last(), Some((_, Some(_)))) {
                of_objects.entry(fault.parent).or_default().push(number);
            }
        }
        let mut foreign: Vec<Foreign<'f>> = Vec::new();
        for (number, fault) in faults.iter().enumerate() {
            let Some((node, Some(kind))) = fault.above.last().copied() else { continue };
            let Some(of_object) = of_objects.remove(&node) else { continue };
            let direct: Vec<_> = of_object.iter().take(MOST_FAULTS).map(|number| &faults[*number]).collect();
            let value = document.value(node);
            let found = formats().filter(|format| *format != self.format).find_map(|format| {
                let shape = shape_of(format)?;
                shape.fits(value, kind, &direct).then_some((format, shape))
            });
            if let Some((format, shape)) = found {
                let example = self.objects_of(kind).find_map(|(_, object)| object.example.as_deref());
                foreign.push(Foreign { node, kind, format, name: shape.name(), example, fault: number });
            }
        }
        // What is in another is a part of it.
        let nodes: FxHashSet<NodeId> = foreign.iter().map(|foreign| foreign.node).collect();
        foreign.retain(|foreign| {
            let above = &faults[foreign.fault].above;
            !above.iter().any(|(node, _)| *node != foreign.node && nodes.contains(node))
        });
        foreign
    }

    /// The objects of a kind, but for the variants of others.
    fn objects_of(&self, kind: Kind) -> impl Iterator<Item = (usize, &Object)> {
        self.objects.iter().enumerate().filter(move |(_, object)| object.kind == Some(kind))
    }

    /// Whether a value is an object of this kind, and has something that explains the faults that it has elsewhere.
    fn fits(&self, value: Value<'_, '_>, kind: Kind, faults: &[&Fault<'_>]) -> bool {
        self.objects_of(kind).any(|(number, _)| {
            let facts = self.plain_facts.get_or_init(|| self.facts_for(None));
            let mut checker = Checker::new(self, facts.clone(), None, true);
            let Some(object) = checker.alone(value, number) else { return false };
            let is_accepted = |fault: &Fault<'_>| fault.answer(self, value.document(), None).is_none();
            if !checker.faults.iter().all(is_accepted) {
                return false;
            }
            let has = |key: &str| {
                object.numbers.get(key).is_some_and(|field| object.fields[*field as usize].is_known)
            };
            let is_required = |key: &str| {
                object
                    .numbers
                    .get(key)
                    .is_some_and(|field| !object.fields[*field as usize].required.is_empty())
            };
            faults.iter().any(|fault| match fault.kind {
                FaultKind::Unknown => has(&fault.key),
                FaultKind::Value => fault.is_of_type() && has(&fault.key),
                FaultKind::Missing | FaultKind::None => value.members().any(|member| {
                    let key = member.key_text().unwrap_or_default();
                    is_required(&key) && !fault.object.numbers.contains_key(&*key)
                }),
                FaultKind::Type => is_required(&fault.key),
                _ => false,
            })
        })
    }
}

/// The most faults of an object that are looked at.
const MOST_FAULTS: usize = 20;

/// The shape of a format, as its own provider enforces it, or as it is described if nobody does.
fn shape_of(format: &'static str) -> Option<&'static Shape> {
    static MCP: OnceLock<Option<Shape>> = OnceLock::new();
    match target::find(format) {
        Some(target) => target.shape(),
        None => MCP.get_or_init(|| Shape::of(format, &Enforced::default())?.ok()).as_ref(),
    }
}
