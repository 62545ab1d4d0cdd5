//! Recordings of HTTP traffic, and texts that hold requests.

use super::{File, Shape};

pub(crate) fn all() -> Vec<Shape> {
    vec![
        Shape::of_files("a cassette with many texts that are not indented", |size| {
            let body = format!("- request:\n    body: \"x\n{}\"\n", "a\n".repeat(200));
            vec![File::new("input.yaml", format!("interactions:\n{}", body.repeat(size / body.len())))]
        })
        .from(256 << 10)
        .holds(192),
    ]
}
