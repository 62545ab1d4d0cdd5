//! What a process has started and what that has started in turn, also in a session of its own, which no signal to a
//! process group reaches.

#[cfg(target_os = "linux")]
pub(super) use linux::{adopt, end, reap};

/// Elsewhere nobody adopts what has lost its parent, so it cannot be found any more.
#[cfg(all(unix, not(target_os = "linux")))]
mod elsewhere {
    pub(in super::super) fn adopt() {}
    pub(in super::super) fn end(_: &[u32], _: &[u32]) {}
    pub(in super::super) fn reap(_: &[u32]) {}
}

#[cfg(all(unix, not(target_os = "linux")))]
pub(super) use elsewhere::{adopt, end, reap};

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::HashMap;
    use std::fs;
    use std::path::Path;
    use std::time::{Duration, Instant};

    use rustix::process::{
        Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, WaitOptions, getpid, pidfd_open, pidfd_send_signal,
        set_child_subreaper, waitid, waitpid,
    };

    /// How long is waited for the end of what is killed. What is in the middle of a write may take a moment.
    const MOST: Duration = Duration::from_secs(2);
    /// How long is waited until it is looked again.
    const PAUSE: Duration = Duration::from_millis(1);

    /// A process as `/proc` describes it.
    #[derive(Debug, Clone, PartialEq, Eq)]
    struct Described {
        id: u32,
        parent: u32,
        is_dead: bool,
        /// When it was started: another process with the same id has another time.
        start: String,
    }

    /// Makes this program the parent of each descendant that loses its own, so that none is lost sight of.
    pub(in super::super) fn adopt() {
        // An older kernel goes on without it.
        let _ = set_child_subreaper(Some(getpid()));
    }

    /// Kills all descendants but `spared` and what these have started, and waits for them. Those that are `awaited` are
    /// waited for by others.
    pub(in super::super) fn end(spared: &[u32], awaited: &[u32]) {
        let until = Instant::now() + MOST;
        loop {
            let mut has_killed = false;
            for process in below(&all(), std::process::id(), spared) {
                if process.is_dead {
                    forget(&process, awaited);
                } else {
                    has_killed |= kill(&process);
                }
            }
            // What was killed may have started something just before.
            if !has_killed || Instant::now() > until {
                return;
            }
            std::thread::sleep(PAUSE);
        }
    }

    /// Takes note of the end of what this program has adopted, so that it does not stay in the table of processes.
    pub(in super::super) fn reap(awaited: &[u32]) {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        // Mostly there is none, and then nothing has to be searched.
        if matches!(waitid(WaitId::All, options), Ok(Some(_))) {
            let dead = below(&all(), std::process::id(), &[]);
            dead.iter().filter(|process| process.is_dead).for_each(|process| forget(process, awaited));
        }
    }

    /// Has the system forget a child that has ended: what has lost its parent is one of this program.
    fn forget(process: &Described, awaited: &[u32]) {
        if process.parent == std::process::id() && !awaited.contains(&process.id) {
            let _ = pid(process.id).map(|id| waitpid(Some(id), WaitOptions::NOHANG));
        }
    }

    /// Kills a process, and no other one that has its id since; returns whether it was there.
    fn kill(process: &Described) -> bool {
        let Some(file) = pid(process.id).and_then(|id| pidfd_open(id, PidfdFlags::empty()).ok()) else {
            return false;
        };
        let is_same = described(process.id).is_some_and(|now| now.start == process.start);
        is_same && pidfd_send_signal(file, Signal::KILL).is_ok()
    }

    fn pid(id: u32) -> Option<Pid> {
        i32::try_from(id).ok().and_then(Pid::from_raw)
    }

    fn all() -> Vec<Described> {
        let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
        let ids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        ids.filter_map(described).collect()
    }

    fn described(id: u32) -> Option<Described> {
        // The name of a program may be any bytes.
        let bytes = toolcheck_files::read(Path::new(&format!("/proc/{id}/stat"))).ok()?;
        read(id, &String::from_utf8_lossy(&bytes))
    }

    /// Reads a line of `/proc/ID/stat`: the id, the name in parentheses, the state, the parent, and as the 22nd the start.
    fn read(id: u32, line: &str) -> Option<Described> {
        let mut fields = line.rsplit_once(") ")?.1.split(' ');
        let state = fields.next()?;
        let parent = fields.next()?.parse().ok()?;
        let start = fields.nth(17)?.to_owned();
        Some(Described { id, parent, is_dead: matches!(state, "Z" | "X"), start })
    }

    /// Those that descend from a process, without those that are spared and what descends from them.
    fn below(all: &[Described], top: u32, spared: &[u32]) -> Vec<Described> {
        let mut children: HashMap<u32, Vec<&Described>> = HashMap::new();
        for process in all {
            children.entry(process.parent).or_default().push(process);
        }
        let (mut found, mut parents) = (Vec::new(), vec![top]);
        while let Some(parent) = parents.pop() {
            // Each has one parent, so each is found once.
            let own = children.remove(&parent).unwrap_or_default().into_iter();
            for child in own.filter(|child| !spared.contains(&child.id)) {
                parents.push(child.id);
                found.push(child.clone());
            }
        }
        found
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn a_process_is_read_whatever_its_name_is() {
            let line = "7 (a) S 1 (b) R 5 7 7 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 8811 1 1";
            let wanted = Described { id: 7, parent: 5, is_dead: false, start: "8811".to_owned() };
            assert_eq!(read(7, line), Some(wanted));
            assert_eq!(read(7, "7 (a) Z 5"), None);
            let own = described(std::process::id());
            assert!(own.is_none_or(|own| !own.is_dead && own.start.parse::<u64>().is_ok()));
        }

        #[test]
        fn descendants_are_found_but_not_those_of_what_is_spared() {
            let process = |(id, parent)| Described { id, parent, is_dead: false, start: String::new() };
            let all: Vec<_> =
                [(1, 0), (2, 1), (3, 2), (4, 3), (5, 2), (6, 5), (7, 1), (8, 8)].map(process).to_vec();
            let mut ids: Vec<u32> = below(&all, 2, &[5]).iter().map(|process| process.id).collect();
            ids.sort_unstable();
            assert_eq!(ids, [3, 4]);
            assert_eq!(below(&all, 8, &[]).len(), 1);
        }
    }
}
