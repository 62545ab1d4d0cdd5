//! Several conversations that a log writes into one another, such as a session and its sub-agents.

use foldhash::HashMap;
use toolcheck_json::Value;

use super::{Conversation, ConversationEnd, Reader, Reading};
use crate::ir::{Transcript, UnpairedReason};

/// The threads of a log while it is read. `T` is what a reader keeps of each.
pub(crate) struct Threads<'s, T> {
    reader: &'static Reader,
    reading: Reading<'s>,
    threads: Vec<Thread<'s, T>>,
    numbers: HashMap<String, usize>,
}

pub(crate) struct Thread<'s, T> {
    title: String,
    pub(crate) transcript: Transcript<'s>,
    empty: Transcript<'s>,
    /// The number of the part with which its last turn begins.
    pub(crate) turn: usize,
    pub(crate) is_aborted: bool,
    pub(crate) own: T,
}

impl<'s, T: Default> Threads<'s, T> {
    pub(crate) fn new(reader: &'static Reader) -> Self {
        let (reading, threads, numbers) = (Reading::default(), Vec::new(), HashMap::default());
        Self { reader, reading, threads, numbers }
    }

    pub(crate) fn leave_out(&mut self, what: &'static str) {
        self.reading.leave_out(what);
    }

    pub(crate) fn leave_out_unknown(&mut self, what: &'static str, record: Value<'_, 's>) {
        self.reading.leave_out_unknown(what, record);
    }

    /// The number of the thread with a title. A record of it is needed to begin one.
    pub(crate) fn number(&mut self, title: String, record: Value<'_, 's>) -> usize {
        let next = self.threads.len();
        let number = *self.numbers.entry(title.clone()).or_insert(next);
        if number == next {
            let empty = Transcript::of_conversation(self.reader.key(), record.document().root());
            let (transcript, own) = (empty.clone(), T::default());
            self.threads.push(Thread { title, transcript, empty, turn: 0, is_aborted: false, own });
        }
        number
    }

    pub(crate) fn get(&mut self, number: usize) -> &mut Thread<'s, T> {
        &mut self.threads[number]
    }

    /// Ends the conversation of a thread here; what follows is another.
    pub(crate) fn divide(&mut self, number: usize, end: ConversationEnd) {
        let thread = &mut self.threads[number];
        let mut transcript = std::mem::replace(&mut thread.transcript, thread.empty.clone());
        thread.turn = 0;
        if transcript.messages.is_empty() {
            return;
        }
        if end != ConversationEnd::Open {
            transcript.settle_calls_of_last_turn(UnpairedReason::Aborted);
        }
        transcript.settle_results_of_first(UnpairedReason::Elsewhere);
        self.reading.conversations.push(Conversation { title: thread.title.clone(), transcript, end });
    }

    pub(crate) fn finish(mut self) -> Reading<'s> {
        for number in 0..self.threads.len() {
            let end = if self.threads[number].is_aborted {
                ConversationEnd::Aborted
            } else {
                ConversationEnd::Open
            };
            self.divide(number, end);
        }
        self.reading.in_order()
    }
}
