//! stub
use crate::{Input, Template, Refusal};
#[derive(Debug)] pub struct Examination { pub observations: Vec<Observation>, pub refusal: Option<Refusal> }
#[derive(Debug, PartialEq)] pub enum Kind { Loses }
#[derive(Debug, PartialEq)] pub enum Part { Call }
#[derive(Debug)] pub struct Observation { pub kind: Kind, pub pointer: String }
impl Template { pub fn examine(&self, _i: &Input<'_>) -> Examination { Examination{observations: vec![], refusal: None} } }
