use toolcheck_core::fix::{Change, Fix};
use toolcheck_core::ir::{Named, ToolKind};

use super::unknown_role;
use crate::rule::{Context, Sink, declare_rule};

declare_rule! {
    MismatchedResultKind in Pairing, since "0.1.0", warning looks at [RESULTS], check,
    fix [
        safe: "The role `function` of a result with the id of its call becomes `tool`.",
        otherwise: "what the result says may not be what a call of the other kind returns",
    ],
    cases [
        "legacy-without-name": "a result with the role `function` and without a name",
        "legacy": "a result with the role `function`",
    ],
    values PART, CALL_ID, CALL_IDS [
        "kind": "the kind of the call",
    ]
}

fn check(cx: &Context<'_, '_>, out: &mut Sink<'_>) {
    for site in &cx.pairing.results {
        let Some(call) = cx.pairing.mismatched_call(site) else { continue };
        let (called, answered) = (call.call.kind, site.result.kind.unwrap_or_default());
        let is_legacy = answered == ToolKind::LegacyFunction;
        // A role that the target does not know is reported by another rule.
        if is_legacy && unknown_role::is_unknown(cx, site.message) {
            continue;
        }
        let title = call.call.title();
        let role = site.message.role_text();
        let message = if is_legacy {
            format!(
                "the result of tool call {title} has the role `{role}`, which only answers legacy function calls"
            )
        } else {
            format!(
                "the result of tool call {title} is of the wrong kind: expected {}, found {}",
                called.name(),
                answered.name()
            )
        };
        let finding = out.report(site.part.place, message);
        finding
            .about_call(call.call)
            .caption("the result")
            .label(call.part.place, "the call")
            .at(cx, site)
            .value("id", Named::text_or_unknown(call.call.id.as_ref()))
            .value("ids", Named::text_or_unknown(call.call.id.as_ref()))
            .value("kind", called.name());
        if is_legacy {
            finding.help("use the role `tool`, with the id of the call");
            if let (Some(role), Some(_)) = (&site.message.role_name, &site.result.call_id) {
                finding.fix(Fix::safe([Change::Write(role.place.node, "\"tool\"".to_owned())]));
            }
            finding.case("legacy").case_if(site.result.name.is_none(), "legacy-without-name");
        } else {
            finding.help("use the kind of result that belongs to this kind of call");
        }
    }
}
