use serde_json::Value as Json;
use toolcheck_serve::Opaque;

use super::{Check, Judgement, Seen};

pub(super) static CHECK: Check = Check {
    id: "keeps-opaque",
    summary: "Opaque content, which only the provider can read, is sent back unchanged in its place.",
    help: "send signatures and encrypted blocks back unchanged, at their place in the same turn",
    judge: |seen| seen.flattened().or_else(|| judge(seen)),
};

fn judge(seen: &Seen<'_>) -> Judgement {
    let exchanges = &seen.case.run.exchanges;
    for (number, exchange) in exchanges.iter().enumerate() {
        // What the server keeps need not come back.
        let Some(next) = exchanges.get(number + 1).filter(|next| !next.goes_on) else { continue };
        let is_lost = |opaque: &&Opaque| !holds(&next.request, opaque);
        if let Some(lost) = exchange.opaque.iter().find(is_lost) {
            let beside =
                lost.beside.as_ref().map_or_else(String::new, |beside| format!(" beside `{beside}`"));
            return Judgement::Broken(format!("`{}` is not sent back{beside}", lost.text));
        }
    }
    Judgement::Met
}

/// Whether an object in a request has the text, with what stands beside it; or refers to it.
fn holds(value: &Json, opaque: &Opaque) -> bool {
    match value {
        Json::Array(elements) => elements.iter().any(|element| holds(element, opaque)),
        Json::Object(members) => {
            let refers =
                opaque.id.is_some() && members.get("id").and_then(Json::as_str) == opaque.id.as_deref();
            let is_it = members.values().any(|member| member.as_str() == Some(&*opaque.text));
            let beside = |beside: &String| value.to_string().contains(beside);
            refers
                || is_it && opaque.beside.as_ref().is_none_or(beside)
                || members.values().any(|member| holds(member, opaque))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use toolcheck_serve::{MockProvider, Turn};

    use super::*;

    #[test]
    fn what_is_kept_by_the_provider_may_be_referred_to() {
        let mut turn = Turn::calls([]);
        turn.reasoning = Some(String::new());
        let provider = MockProvider::builder().turn(turn).start().expect("a port is free");
        let host = provider.url();
        let body = json!({"model": "m", "input": [{"role": "user", "content": "hello"}]}).to_string();
        let mut stream =
            std::net::TcpStream::connect(host.trim_start_matches("http://")).expect("it listens");
        let head = "POST /v1/responses HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: ";
        let sent =
            std::io::Write::write_all(&mut stream, format!("{head}{}\r\n\r\n{body}", body.len()).as_bytes());
        sent.expect("it reads");
        std::io::Read::read_to_end(&mut stream, &mut Vec::new()).expect("it answers");
        let run = provider.finish();
        let exchange = &run.exchanges[0];
        let item = &exchange.response["output"][0];
        let [opaque] = &exchange.opaque[..] else { panic!("{:?}", exchange.opaque) };
        assert!(holds(&json!({"input": [item]}), opaque));
        assert!(holds(&json!({"input": [{"type": "item_reference", "id": item["id"]}]}), opaque));
        assert!(!holds(&json!({"input": [{"type": "item_reference", "id": "rs_other"}]}), opaque));
        // In another place, it is something else.
        let text = json!({"role": "user", "content": opaque.text});
        assert!(!holds(&json!({"input": [text]}), opaque));
    }
}
