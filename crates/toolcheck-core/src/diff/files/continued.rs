//! Which requests of a recording are continued by later ones.

use foldhash::HashMap;

use super::File;
use crate::diff::canonical;
use crate::diff::events::Events;

impl File<'_> {
    /// Keeps of the requests of each recorded conversation only the last one: it holds what the others do. A request
    /// continues another if it begins with everything that is in it.
    pub(super) fn keep_last_requests(&mut self) {
        if self.conversations.iter().filter(|one| one.is_exchange).count() < 2 {
            return;
        }
        let mut is_continued = vec![false; self.conversations.len()];
        // What each request says, as one number, with the last request that says it.
        let mut requests: HashMap<u64, usize> = HashMap::default();
        for (number, one) in self.conversations.iter().enumerate() {
            if !one.is_exchange {
                continue;
            }
            let side = super::Side::new(&one.transcript, &self.documents[one.document].0);
            let events = Events::of(&side).all;
            let mut said = 0;
            for event in &events {
                if let Some(earlier) = requests.get(&said) {
                    is_continued[*earlier] = true;
                }
                said = canonical::of_all(b'u', &[said, event.sort as u64, event.speaker as u64, event.key]);
            }
            if !events.is_empty() {
                requests.insert(said, number);
            }
        }
        let mut is_continued = is_continued.into_iter();
        self.conversations.retain(|_| !is_continued.next().unwrap_or_default());
    }
}
