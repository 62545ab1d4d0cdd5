//! stub
#[derive(Debug)] pub enum Origin { Template }
#[derive(Debug)] pub struct Segment { pub origin: Origin }
