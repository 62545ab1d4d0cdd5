use foldhash::HashMap;
use toolcheck_core::fix::{Change, Fix};
use toolcheck_core::ir::Place;
use toolcheck_core::text::shorten;

use crate::rule::{Context, Sink, declare_rule};

declare_rule! {
    DuplicateToolDefinition in Tools, since "0.1.0", warning looks at [TOOLS], check
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    let mut seen = HashMap::default();
    for tool in cx.transcript.request.tools.listed().iter() {
        let Some(name) = &tool.name else { continue };
        let Some(first) = seen.insert(&*name.text, tool.place) else { continue };
        let finding = out.report(tool.place, format!("two tools are named `{}`", shorten(&name.text)));
        finding
            .caption("defined again")
            .label(first, "first defined here")
            .help("give each tool a unique name, for example by adding its server's name as a prefix")
            .value("name", shorten(&name.text));
        finding.about_tool(&name.text);
        let raw = |place: Place| cx.document.value(place.node).raw();
        let guess = "assumes that the first of the two definitions is meant, and removes the other";
        let change = [Change::Remove(tool.place.node)];
        let is_same = raw(first) == raw(tool.place);
        finding.fix(if is_same { Fix::safe(change) } else { Fix::guess(guess, change) });
    }
}
