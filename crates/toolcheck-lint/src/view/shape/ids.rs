//! Ids of calls that are there under another key.

use std::borrow::Cow;

use foldhash::HashSet;
use toolcheck_core::RuleId;
use toolcheck_core::shape::ShapeFaultKind;
use toolcheck_json::Value;

use super::Refused;
use super::join::Unknown;
use crate::rule::Context;

/// Finds the key that has the id where a call or a result lacks it: its value is the id of the other half.
pub(super) fn find_renamed(cx: &Context<'_, '_>, refused: &mut [Refused<'_>]) {
    if !refused.iter().any(|refused| id_key(refused).is_some()) {
        return;
    }
    let calls = cx.pairing.calls.iter().filter_map(|call| call.call.id.as_ref());
    let results = cx.pairing.results.iter().filter_map(|result| result.result.call_id.as_ref());
    let ids: HashSet<&str> = calls.chain(results).map(|id| &*id.text).collect();
    let is_id = |value: Value<'_, '_>| value.as_str().is_some_and(|text| ids.contains(&*text));
    for refused in refused {
        let Some(key) = id_key(refused) else { continue };
        let object = cx.document.value(refused.fault.object_node());
        if refused.fault.kind == ShapeFaultKind::Missing {
            let Some(member) = object.members().find(|member| is_id(*member)) else { continue };
            let key = member.key_text().unwrap_or_default().into_owned();
            let means = Some(refused.fault.key.to_string());
            refused.unknown = vec![Unknown { node: member.id(), key, means, is_near: true, label: "the id" }];
        } else if object.get(key).is_none() && is_id(cx.document.value(refused.fault.node())) {
            refused.means = Some(Cow::Borrowed(key));
        }
    }
}

/// The key of the id that an object lacks, or may lack.
fn id_key<'c>(refused: &Refused<'c>) -> Option<&'c str> {
    let fault = &refused.fault;
    match fault.kind {
        ShapeFaultKind::Missing if refused.unknown.is_empty() => {
            fault.key_checked_by(RuleId::MissingToolCallId).filter(|key| *key == fault.key)
        }
        ShapeFaultKind::Unknown if !refused.is_all_unknown() => {
            fault.key_checked_by(RuleId::MissingToolCallId)
        }
        _ => None,
    }
}
