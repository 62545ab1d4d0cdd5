//! Responses and conversations that the server keeps, as clients of Responses ask for them again.
//!
//! What a request may go on from is known to [`ServerState`]; this is what its text was. Nothing of it is judged.

pub(crate) mod entries;

use std::collections::{HashMap, VecDeque};

use hyper::Method;
use serde_json::{Value as Json, json};
use toolcheck_core::reply::Pieces;
use toolcheck_core::{formats, targets};
use toolcheck_lint::server_state::ServerState;

use crate::answer::{Answer, error};
use crate::recording::reply;

/// How many bytes of responses and conversations are kept. The oldest are forgotten.
const MOST_BYTES: usize = 32 << 20;
/// What is held of each besides its texts, in bytes.
const OVERHEAD: usize = 256;
/// The time at which everything was made, in seconds since 1970.
const CREATED: u64 = 1_767_225_600;
/// The number of items in a list, if the client does not say.
const A_PAGE: usize = 20;

#[derive(Debug, Default)]
pub(crate) struct Stored {
    by_id: HashMap<String, Held>,
    order: VecDeque<String>,
    bytes: usize,
    /// How many conversations and items were given an id.
    made: u64,
}

/// A response with what was sent for it, or a conversation with what is in it, as texts of JSON.
#[derive(Debug)]
struct Held {
    body: Box<str>,
    items: Vec<Item>,
}

#[derive(Debug)]
struct Item {
    id: Box<str>,
    text: Box<str>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted<'p> {
    Response(&'p str),
    DeleteResponse(&'p str),
    Cancel(&'p str),
    /// The items that were sent for a response, or that are in a conversation.
    Items(&'p str),
    NewConversation,
    Conversation(&'p str),
    ChangeConversation(&'p str),
    DeleteConversation(&'p str),
    AddItems(&'p str),
    Item(&'p str, &'p str),
    DeleteItem(&'p str, &'p str),
}

impl<'p> Wanted<'p> {
    /// What a path asks for; `None` if that is nothing that is kept.
    pub(crate) fn of(method: &Method, path: &'p str) -> Option<Self> {
        let steps: Vec<&str> = path.trim_end_matches('/').rsplitn(5, '/').collect();
        let (get, post, delete) =
            (*method == Method::GET, *method == Method::POST, *method == Method::DELETE);
        Some(match steps[..] {
            ["conversations", _, ..] if post => Self::NewConversation,
            [id, "responses", _, ..] if get => Self::Response(id),
            [id, "responses", _, ..] if delete => Self::DeleteResponse(id),
            ["cancel", id, "responses", ..] if post => Self::Cancel(id),
            ["input_items", id, "responses", ..] | ["items", id, "conversations", ..] if get => {
                Self::Items(id)
            }
            [id, "conversations", _, ..] if get => Self::Conversation(id),
            [id, "conversations", _, ..] if post => Self::ChangeConversation(id),
            [id, "conversations", _, ..] if delete => Self::DeleteConversation(id),
            ["items", id, "conversations", ..] if post => Self::AddItems(id),
            [item, "items", id, "conversations", ..] if get => Self::Item(id, item),
            [item, "items", id, "conversations", ..] if delete => Self::DeleteItem(id, item),
            _ => return None,
        })
    }
}

impl Stored {
    /// Keeps a response of Responses, and adds it to the conversation that the request names.
    pub(crate) fn keep(&mut self, request: &Json, response: &Json) {
        let input = self.items_of(&request["input"]);
        let named = &request["conversation"];
        if let Some(id) = named.as_str().or_else(|| named["id"].as_str()) {
            let output = self.items_of(&response["output"]);
            let mut held = self.take(id).unwrap_or_else(|| Held::conversation(id, &Json::Null));
            let sent = input.iter().map(|item| Item { id: item.id.clone(), text: item.text.clone() });
            held.items.extend(sent.chain(output));
            self.put(id, held);
        }
        if let Some(id) = response["id"].as_str().filter(|_| response["store"] == true) {
            self.put(id, Held { body: response.to_string().into(), items: input });
        }
    }

    /// The answer to a question, with this query and body.
    pub(crate) fn answer(
        &mut self,
        wanted: Wanted<'_>,
        query: &str,
        body: &Json,
        server: &ServerState,
    ) -> Answer {
        match wanted {
            Wanted::NewConversation => {
                let id = format!("conv_{:048}", self.next());
                let items = self.items_of(&body["items"]);
                note(server, &id, &items);
                let held = Held { items, ..Held::conversation(&id, &body["metadata"]) };
                let text = held.body.to_string();
                self.put(&id, held);
                found(text)
            }
            Wanted::AddItems(id) => {
                let items = self.items_of(&body["items"]);
                let Some(mut held) = self.take(id) else { return missing(id) };
                note(server, id, &items);
                let texts: Vec<&str> = items.iter().map(|item| &*item.text).collect();
                let answer = found(list(&texts, false));
                held.items.extend(items);
                self.put(id, held);
                answer
            }
            Wanted::ChangeConversation(id) => {
                let Some(held) = self.take(id) else { return missing(id) };
                let changed = Held { items: held.items, ..Held::conversation(id, &body["metadata"]) };
                let text = changed.body.to_string();
                self.put(id, changed);
                found(text)
            }
            Wanted::DeleteConversation(id) => match self.take(id) {
                Some(_) => {
                    server.forget(id);
                    found(json!({"id": id, "object": "conversation.deleted", "deleted": true}).to_string())
                }
                None => missing(id),
            },
            Wanted::DeleteResponse(id) => match self.take(id) {
                Some(_) => {
                    server.forget(id);
                    found(json!({"id": id, "object": "response.deleted", "deleted": true}).to_string())
                }
                None => missing(id),
            },
            Wanted::DeleteItem(id, item) => {
                let Some(mut held) = self.take(id) else { return missing(id) };
                let count = held.items.len();
                held.items.retain(|known| &*known.id != item);
                let is_there = held.items.len() < count;
                let text = held.body.to_string();
                self.put(id, held);
                if is_there { found(text) } else { missing(item) }
            }
            Wanted::Response(id)
            | Wanted::Conversation(id)
            | Wanted::Cancel(id)
            | Wanted::Items(id)
            | Wanted::Item(id, _) => {
                let Some(held) = self.by_id.get(id) else { return missing(id) };
                match wanted {
                    Wanted::Cancel(_) => refused(400, "Cannot cancel a synchronous response."),
                    Wanted::Items(_) => found(held.page(query)),
                    Wanted::Item(_, item) => {
                        held.item(item).map_or_else(|| missing(item), |text| found(text.to_owned()))
                    }
                    Wanted::Response(_) if query.split('&').any(|pair| pair == "stream=true") => {
                        stream(&held.body).unwrap_or_else(|| found(held.body.to_string()))
                    }
                    _ => found(held.body.to_string()),
                }
            }
        }
    }

    /// The items of an input or an output, each with an id.
    fn items_of(&mut self, value: &Json) -> Vec<Item> {
        let message = value.as_str().map(|text| json!([{"role": "user", "content": text}]));
        let items = message.as_ref().unwrap_or(value).as_array().cloned().unwrap_or_default();
        // A reference is to an item that is there.
        let items = items.into_iter().filter(|item| item.is_object() && item["type"] != "item_reference");
        items.map(|item| self.item_of(item)).collect()
    }

    fn item_of(&mut self, mut item: Json) -> Item {
        let is_message = item.get("type").is_none_or(|kind| kind == "message");
        if is_message {
            item["type"] = json!("message");
            let part = if item["role"] == "assistant" { "output_text" } else { "input_text" };
            if let Some(text) = item["content"].as_str() {
                item["content"] = json!([{"type": part, "text": text}]);
            }
        }
        // The API takes no reasoning back with a status, so it does not send one.
        if item.get("status").is_none() && item["type"] != "reasoning" {
            item["status"] = json!("completed");
        }
        let prefix = match item["type"].as_str() {
            Some("message") => "msg",
            Some("function_call") => "fc",
            Some("function_call_output") => "fco",
            Some("reasoning") => "rs",
            _ => "item",
        };
        if !item["id"].is_string() {
            item["id"] = json!(format!("{prefix}_{:048}", self.next()));
        }
        Item { id: item["id"].as_str().unwrap_or_default().into(), text: item.to_string().into() }
    }

    fn next(&mut self) -> u64 {
        self.made += 1;
        self.made
    }

    fn put(&mut self, id: &str, held: Held) {
        self.bytes += held.bytes();
        if self.by_id.insert(id.to_owned(), held).is_none() {
            self.order.push_back(id.to_owned());
        }
        while self.bytes > MOST_BYTES {
            let Some(oldest) = self.order.pop_front() else { break };
            self.bytes -= self.by_id.remove(&oldest).map_or(0, |held| held.bytes());
        }
    }

    fn take(&mut self, id: &str) -> Option<Held> {
        let held = self.by_id.remove(id)?;
        self.bytes -= held.bytes();
        self.order.retain(|known| known != id);
        Some(held)
    }
}

impl Held {
    fn conversation(id: &str, metadata: &Json) -> Self {
        let metadata = if metadata.is_object() { metadata.clone() } else { json!({}) };
        let body = json!({"id": id, "object": "conversation", "created_at": CREATED, "metadata": metadata});
        Self { body: body.to_string().into(), items: Vec::new() }
    }

    fn bytes(&self) -> usize {
        let of_item = |item: &Item| item.id.len() + item.text.len() + OVERHEAD;
        self.body.len() + OVERHEAD + self.items.iter().map(of_item).sum::<usize>()
    }

    fn item(&self, id: &str) -> Option<&str> {
        self.items.iter().find(|item| &*item.id == id).map(|item| &*item.text)
    }

    /// A part of the list of items: `limit`, `order` and `after` say which. The last one comes first, if it is not said.
    fn page(&self, query: &str) -> String {
        let given = |key: &str| query.split('&').find_map(|pair| pair.strip_prefix(key)?.strip_prefix('='));
        let mut items: Vec<&Item> = self.items.iter().collect();
        if given("order") != Some("asc") {
            items.reverse();
        }
        let after = given("after").and_then(|after| items.iter().position(|item| &*item.id == after));
        let left = &items[after.map_or(0, |at| at + 1)..];
        let limit = given("limit").and_then(|limit| limit.parse().ok()).unwrap_or(A_PAGE);
        let texts: Vec<&str> = left.iter().take(limit).map(|item| &*item.text).collect();
        list(&texts, left.len() > limit)
    }
}

/// Tells the state of the server of items that a client has put into a conversation.
fn note(server: &ServerState, conversation: &str, items: &[Item]) {
    let items: Vec<Json> =
        items.iter().map(|item| serde_json::from_str(&item.text).unwrap_or_default()).collect();
    let text = |item: &Json, key: &str| item[key].as_str().map(str::to_owned);
    let is_call = |item: &&Json| item["type"].as_str().is_some_and(|kind| kind.ends_with("_call"));
    let of_model = |item: &Json| item["role"] == "assistant" || item["type"] == "reasoning" || is_call(&item);
    let ids = items.iter().filter_map(|item| {
        Some((text(item, "id")?, Some(item).filter(is_call).and_then(|call| text(call, "call_id"))))
    });
    let turns =
        (0..items.len()).filter(|at| of_model(&items[*at]) && (*at == 0 || !of_model(&items[at - 1])));
    server.put(conversation, ids.collect(), turns.count());
}

/// A list, of items that are texts of JSON.
fn list(items: &[&str], has_more: bool) -> String {
    let id = |item: Option<&&str>| -> Json {
        item.and_then(|item| serde_json::from_str(item).ok())
            .map_or(Json::Null, |item: Json| item["id"].clone())
    };
    let (first, last) = (id(items.first()), id(items.last()));
    let items = items.join(",");
    format!(
        r#"{{"object":"list","data":[{items}],"first_id":{first},"last_id":{last},"has_more":{has_more}}}"#
    )
}

/// A response as the events in which it came.
fn stream(response: &str) -> Option<Answer> {
    let format = formats::ALL.iter().find(|format| format.keeps_responses)?;
    let response: Json = serde_json::from_str(response).ok()?;
    let before = response["previous_response_id"].as_str().map(str::to_owned);
    let reply = reply(format, &response)?.with_state(before, response["store"] == true);
    let frames = format.framing.frames(&format.write_stream(&reply, Pieces::of(16)));
    let headers = vec![("content-type".to_owned(), format.framing.content_type().to_owned())];
    Some(Answer { status: 200, headers, frames: Some(frames), ..Answer::default() })
}

fn found(text: String) -> Answer {
    let headers = vec![("content-type".to_owned(), "application/json".to_owned())];
    Answer { status: 200, headers, body: text.into_bytes(), ..Answer::default() }
}

/// The answer to who asks for what is not there. The words for responses are those that servers which copy the API have
/// (<https://github.com/vllm-project/vllm/blob/main/vllm/entrypoints/openai/responses/serving.py>), those for conversations
/// and items the API's own.
fn missing(id: &str) -> Answer {
    let what = match id.split('_').next() {
        Some("resp") => "Response",
        Some("conv") => "Conversation",
        _ => "Item",
    };
    refused(404, &format!("{what} with id '{id}' not found."))
}

fn refused(status: u16, text: &str) -> Answer {
    let format = formats::ALL.iter().find(|format| format.keeps_responses);
    let target = format.and_then(|format| targets::find(format.id));
    error(target.and_then(|target| target.error.as_ref()), status, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_has_a_limit() {
        let mut stored = Stored::default();
        let text = "x".repeat(1 << 20);
        for number in 0..64 {
            stored.keep(&json!({"input": text}), &json!({"id": format!("resp_{number}"), "store": true}));
        }
        assert!(stored.bytes <= MOST_BYTES && stored.by_id.len() == stored.order.len());
        assert!(stored.by_id.contains_key("resp_63") && !stored.by_id.contains_key("resp_0"));
    }
}
