//! Lists of messages that stand anywhere in a file, for readers of what frameworks keep: each is a conversation.

use foldhash::HashMap;
use toolcheck_json::{NodeId, Value, pointers};

use super::{Conversation, LeftOut, Reading, lists, traces};
use crate::claim::certainty;
use crate::text::shorten;

#[derive(Debug, Default)]
pub(crate) struct List<'d, 's> {
    /// Where it stands: its JSON Pointer, with the number of its record if there are several.
    pub(crate) title: String,
    pub(crate) messages: Vec<Value<'d, 's>>,
    /// Whether a span of a request to a model has it: it was sent as it is.
    pub(crate) is_of_span: bool,
}

#[derive(Debug, Default)]
pub(crate) struct MessageLists<'d, 's> {
    pub(crate) lists: Vec<List<'d, 's>>,
    /// How many messages are in no list.
    pub(crate) alone: usize,
    /// How many lists of messages in other forms there are.
    pub(crate) other_lists: usize,
    /// The lines beside messages in which none was found.
    pub(crate) others: Vec<Value<'d, 's>>,
}

/// Reads the lists of messages in a file, each as a conversation.
pub(crate) fn read<'d, 's>(
    records: &[Value<'d, 's>],
    is_message: impl Fn(Value<'d, 's>) -> bool,
    mut conversation: impl FnMut(List<'d, 's>, &mut LeftOut) -> Conversation<'s>,
) -> Reading<'s> {
    let mut reading = Reading::default();
    let found = find(records, is_message);
    for list in found.lists {
        let is_of_span = list.is_of_span;
        let mut conversation = conversation(list, &mut reading.left_out);
        conversation.transcript.details.is_of_span = is_of_span;
        reading.conversations.push(conversation);
    }
    reading.left_out.add("messages outside of lists", found.alone);
    reading.left_out.add("lists of messages in other forms", found.other_lists);
    reading
}

/// A list while the file is searched: its place, the number of its record, whether a span has it, and its elements.
type ListInFile<'d, 's> = (NodeId, usize, bool, Vec<Value<'d, 's>>);

/// Finds the lists that hold a message that is surely one. What stands inside a message is not searched.
pub(crate) fn find<'d, 's>(
    records: &[Value<'d, 's>],
    is_message: impl Fn(Value<'d, 's>) -> bool,
) -> MessageLists<'d, 's> {
    let mut found = MessageLists::default();
    let mut runs: Vec<ListInFile<'d, 's>> = Vec::new();
    let mut is_in_run = false;
    let wraps = wraps(records.iter().copied(), &is_message);
    let is_row = |value: Value<'d, 's>| is_message(inner(value, wraps));
    let has_rows = records.iter().any(|record| is_row(*record));
    for (number, &record) in records.iter().enumerate() {
        // One message per line: among those that are surely of a framework, others are as they are in a list.
        if is_row(record) || has_rows && lists::is_plain(inner(record, wraps)) {
            match runs.last_mut().filter(|_| is_in_run) {
                Some((.., run)) => run.push(record),
                None => runs.push((record.id(), number, false, vec![record])),
            }
            is_in_run = true;
            continue;
        }
        let before = runs.len() + found.alone;
        let mut open = vec![(record, false)];
        while let Some((value, is_of_span)) = open.pop() {
            if value.is_array() && is_list(value.elements(), &is_message) {
                runs.push((value.id(), number, is_of_span, value.elements().collect()));
            } else if value.is_object() && is_message(value) {
                found.alone += 1;
            } else {
                found.other_lists +=
                    usize::from(lists::is_list(value) && value.elements().any(lists::is_plain));
                let start = open.len();
                let children = value.children().filter(|child| child.is_array() || child.is_object());
                let is_of_span = is_of_span || traces::is_of_model_alone(value);
                open.extend(children.map(|child| (child, is_of_span)));
                open[start..].reverse();
            }
        }
        if runs.len() + found.alone > before {
            is_in_run = false;
        } else if has_rows {
            found.others.push(record);
        }
    }
    let ids: Vec<NodeId> = runs.iter().map(|(id, ..)| *id).collect();
    let pointers = records.first().map(|record| pointers(record.document(), &ids)).unwrap_or_default();
    for ((_, number, is_of_span, rows), pointer) in runs.into_iter().zip(pointers) {
        let wraps = self::wraps(rows.iter().copied(), &is_message);
        let title = title(&pointer, (records.len() > 1).then_some(number));
        divide((title, is_of_span), rows, wraps, &mut found.lists);
    }
    found
}

/// Whether rows have their messages under other keys than `message`, and are none themselves.
fn wraps<'d, 's: 'd>(
    rows: impl Iterator<Item = Value<'d, 's>> + Clone,
    is_message: &impl Fn(Value<'d, 's>) -> bool,
) -> bool {
    lists::wrap(rows.clone()) && !rows.clone().any(|row| is_message(inner(row, false)))
}

fn is_list<'d, 's: 'd>(
    rows: impl Iterator<Item = Value<'d, 's>> + Clone,
    is_message: &impl Fn(Value<'d, 's>) -> bool,
) -> bool {
    let has = |wraps| rows.clone().any(|row| is_message(inner(row, wraps)));
    has(false) || lists::wrap(rows.clone()) && has(true)
}

/// The message of a row: the row itself, or what it has as its `message`, or under any key if rows do so.
fn inner<'d, 's>(row: Value<'d, 's>, wraps: bool) -> Value<'d, 's> {
    if row.is_array() {
        return beside_node(row).unwrap_or(row);
    }
    let message = row.get("message").filter(|message| message.is_object());
    message.or_else(|| if wraps { lists::wrapped(row) } else { None }).unwrap_or(row)
}

/// The message of a pair in a stream of LangGraph: a message and what is known of its node.
pub(crate) fn beside_node<'d, 's>(pair: Value<'d, 's>) -> Option<Value<'d, 's>> {
    let mut elements = pair.elements();
    let (message, node) = (elements.next()?, elements.next()?);
    let is_of_node = node.members().filter_map(Value::key_text).any(|key| key.starts_with("langgraph_"));
    (is_of_node && elements.next().is_none()).then_some(message)
}

fn divide<'d, 's>(
    (title, is_of_span): (String, bool),
    rows: Vec<Value<'d, 's>>,
    wraps: bool,
    lists: &mut Vec<List<'d, 's>>,
) {
    let mut numbers: HashMap<&[u8], usize> = HashMap::default();
    let start = lists.len();
    for row in rows {
        let key = row.get_any(&lists::THREAD).filter(|key| !key.is_null());
        let number = *numbers.entry(key.map_or(b"", Value::raw)).or_insert_with(|| {
            let name = key.and_then(|key| key.as_str()).map(|name| format!(" of {}", shorten(&name)));
            let title = format!("{title}{}", name.unwrap_or_default());
            lists.push(List { title, messages: Vec::new(), is_of_span });
            lists.len() - 1 - start
        });
        lists[start + number].messages.push(inner(row, wraps));
    }
}

/// The title of the list at `pointer`, which begins with the number of its record if there are several.
fn title(pointer: &str, record: Option<usize>) -> String {
    match record {
        None if pointer.is_empty() => "messages".to_owned(),
        None => pointer.to_owned(),
        Some(number) => {
            let inside = pointer.trim_start_matches('/').split_once('/').map(|(_, inside)| inside);
            let inside = inside.map(|inside| format!(" /{inside}")).unwrap_or_default();
            format!("record {}{inside}", number + 1)
        }
    }
}

/// How many elements of a list, and members of an object, are looked at to recognise a file.
const LOOKED_AT: usize = 64;

/// How many elements of a list are looked at for lists inside of them.
const ELEMENTS_LOOKED_AT: usize = 16;

/// How many values of the first records are looked at for a list that is deep inside.
const VALUES_LOOKED_AT: usize = 1 << 12;

/// How certain it is that the first records hold messages that are surely ones: at the top, or deep inside, where the
/// file may as well be of another reader.
pub(crate) fn certainty_of<'d, 's>(
    records: &[Value<'d, 's>],
    is_message: impl Fn(Value<'d, 's>) -> bool,
) -> u8 {
    let is_list =
        |value: Value<'d, 's>| value.is_array() && is_list(value.elements().take(LOOKED_AT), &is_message);
    let is_at_top = |record: Value<'d, 's>| is_list(record) || record.members().take(LOOKED_AT).any(is_list);
    if self::is_list(records.iter().copied(), &is_message) || records.iter().any(|record| is_at_top(*record))
    {
        return certainty::OWN_SHAPE;
    }
    let mut open: Vec<Value<'d, 's>> =
        records.iter().copied().filter(|record| !is_request(*record)).collect();
    open.reverse();
    let mut left = VALUES_LOOKED_AT;
    while let Some(value) = open.pop() {
        if is_list(value) {
            return certainty::LIKELY;
        }
        if left == 0 {
            return 0;
        }
        let start = open.len();
        // The first elements stand for all, so that what comes after them is reached.
        let most = if value.is_array() { ELEMENTS_LOOKED_AT } else { LOOKED_AT };
        let children = value.children().take(most.min(left)).inspect(|_| left -= 1);
        open.extend(children.filter(|child| child.is_array() || child.is_object()));
        open[start..].reverse();
    }
    0
}

/// Whether a record is a request or a list of messages as an API takes it, which may quote anything in its texts.
fn is_request(record: Value<'_, '_>) -> bool {
    let list = if record.is_array() { Some(record) } else { record.get_any(&["messages", "contents"]) };
    list.and_then(|list| list.elements().next()).is_some_and(|message| message.has("role"))
}
