use toolcheck_core::fix::{Change, Fix};

use crate::rule::{Context, Sink, declare_rule};

declare_rule! {
    MediaTypeMismatch in Content, since "0.1.0", silent on wire looks at [MEDIA], check
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    for image in &cx.transcript.details.images {
        let known = BEGINNINGS.iter().find(|(beginning, _)| image.data.raw().starts_with(beginning));
        // A type that no API knows is another fault.
        let is_known = BEGINNINGS.iter().any(|(_, media_type)| image.media_type.text == *media_type);
        let differs = |media_type: &str| is_known && image.media_type.text != media_type;
        let Some((_, media_type)) = known.filter(|(_, media_type)| differs(media_type)) else {
            continue;
        };
        let (index, part) = image.at;
        let finding = out.report(
            image.media_type.place,
            format!("the image data is {media_type}, but another type is declared"),
        );
        // The type may also be the start of a text.
        let declared = image.media_type.place.node;
        if cx.document.value(declared).as_str().is_some_and(|text| text == image.media_type.text) {
            finding.fix(Fix::safe([Change::Write(declared, format!("\"{media_type}\""))]));
        }
        finding
            .caption("declared here")
            .help(format!("declare it as {media_type}"))
            .value("type", toolcheck_core::text::shorten(&image.media_type.text))
            .value("other", media_type)
            .value("index", index)
            .value("part", part);
    }
}

const BEGINNINGS: [(&[u8], &str); 4] = [
    (b"/9j/", "image/jpeg"),
    (b"iVBORw0KGgo", "image/png"),
    (b"R0lGOD", "image/gif"),
    (b"UklGR", "image/webp"),
];
