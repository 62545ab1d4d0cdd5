//! What the address of a request says.

use toolcheck_core::endpoint::{Endpoint, model_of, purpose};

#[test]
fn each_address_says_what_is_written_of_it() {
    for line in include_str!("endpoint.jsonl").lines() {
        let said: serde_json::Map<String, serde_json::Value> = serde_json::from_str(line).unwrap();
        let url = said["url"].as_str().unwrap();
        let Endpoint { format, target, .. } = Endpoint::of(url);
        assert!(said.keys().all(|key| "about call format model target url".contains(&**key)), "{line}");
        for (key, found) in [
            ("call", Some(purpose(url).as_str().to_owned())),
            ("format", Some(format.map_or("-", |format| format.id).to_owned())),
            ("model", model_of(url)),
            ("target", Some(target.map_or("-", |target| &*target.id).to_owned())),
        ] {
            assert!(said.get(key).is_none_or(|said| said.as_str() == found.as_deref()), "{line}: {found:?}");
        }
    }
}
