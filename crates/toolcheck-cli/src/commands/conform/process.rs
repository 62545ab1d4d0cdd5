//! Processes that leave nothing behind: neither when they are done with, nor when a signal ends the program.
//!
//! On Unix, each is the leader of a process group, and the group is killed as a whole. What has made itself a group of its
//! own is found on Linux, where this program adopts it; elsewhere it is beyond reach, as it is for a shell. Another shell
//! that waits for the end of a pipe outlives the program, and kills what is left if the program could not.

use std::io::{self, BufRead, BufReader, Read};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};
use toolcheck_core::text::reason;

#[cfg(unix)]
use super::descendants;

/// A command that runs in a shell.
pub(super) struct Process {
    child: Child,
    is_ended: bool,
}

/// How long a process may take to end by itself once its standard input is closed.
const GRACE: Duration = Duration::from_millis(500);
/// How long is waited until something is looked at again.
const PAUSE: Duration = Duration::from_millis(5);
/// The longest line in bytes. Of a longer one nothing is kept.
const LONGEST: usize = 16 << 20;

static RUNNING: Mutex<Running> = Mutex::new(Running { ids: Vec::new(), watchdog_id: None, watchdog: None });

fn running() -> MutexGuard<'static, Running> {
    // Ids are added and removed one by one.
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The processes that run, by their ids, and who kills them if nothing else can.
struct Running {
    ids: Vec<u32>,
    #[cfg_attr(not(unix), expect(dead_code, reason = "elsewhere there are no process groups"))]
    watchdog_id: Option<u32>,
    #[cfg_attr(not(unix), expect(dead_code, reason = "elsewhere there are no process groups"))]
    watchdog: Option<ChildStdin>,
}

/// What kills process groups once its standard input is closed, those of the last line that it has read; and then what has
/// left them, where the system shows environments. What is started meanwhile is found the next time. If nothing was running,
/// the program has killed it all by itself.
#[cfg(unix)]
const WATCHDOG_SCRIPT: &str = r#"
while read -r line; do ids=$line; done
[ -n "$ids" ] || exit
for id in $ids; do [ "$id" = starting ] || kill -s KILL -- "-$id"; done
for time in 1 2 3; do
    for file in $(grep -ls "$1" /proc/[0-9]*/environ); do
        id=${file#/proc/}
        kill -s KILL "${id%/environ}"
    done
done"#;

/// A variable in the environment of all that is started, by which the watchdog finds it, and its value, which nobody else has.
#[cfg(unix)]
const MARK: &str = "TOOLCHECK_CONFORM";

#[cfg(unix)]
fn mark() -> &'static str {
    use std::hash::{BuildHasher, RandomState};
    use std::sync::OnceLock;

    static VALUE: OnceLock<String> = OnceLock::new();
    VALUE.get_or_init(|| format!("{:016x}", RandomState::new().hash_one(std::process::id())))
}

#[cfg(unix)]
impl Running {
    /// Starts what outlives the program even if it is killed, and kills what runs then.
    fn begin(&mut self) -> io::Result<()> {
        if self.watchdog.is_none() {
            let mut shell = Command::new("sh");
            shell.args(["-c", WATCHDOG_SCRIPT, "sh", &format!("{MARK}={}", mark())]);
            shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
            // Who kills the group of the program does not mean this one.
            std::os::unix::process::CommandExt::process_group(&mut shell, 0);
            let mut shell = shell.spawn()?;
            (self.watchdog_id, self.watchdog) = (Some(shell.id()), shell.stdin.take());
            descendants::adopt();
        }
        Ok(())
    }

    /// Kills what has been started by what runs no more.
    fn end_descendants(&self, ended: &[u32]) {
        let going = self.ids.iter().filter(|id| !ended.contains(id));
        let spared: Vec<u32> = going.copied().chain(self.watchdog_id).collect();
        descendants::end(&spared, &[&*spared, ended].concat());
    }

    /// Says which processes run, and whether one is being started, whose id is not known yet.
    fn tell(&mut self, is_starting: bool) {
        use std::io::Write;

        let starting = is_starting.then(|| "starting".to_owned());
        let ids: Vec<String> = self.ids.iter().map(u32::to_string).chain(starting).collect();
        // If it has ended, nothing but a kill of the program is left to it.
        let _ = self.watchdog.as_mut().map(|watchdog| writeln!(watchdog, "{}", ids.join(" ")));
    }
}

#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, clippy::unused_self, reason = "elsewhere there are no process groups")]
impl Running {
    fn begin(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn tell(&mut self, _: bool) {}
}

/// Kills what runs, before the program ends. Nothing can be started from then on.
#[cfg(unix)]
pub(crate) fn kill_all() {
    let running = running();
    for id in &running.ids {
        kill_group(*id);
    }
    running.end_descendants(&running.ids);
    // A process that was being started would outlive the program.
    std::mem::forget(running);
}

/// Takes note of the end of processes that have lost their parents.
pub(super) fn reap() {
    #[cfg(unix)]
    {
        let running = running();
        descendants::reap(&[&*running.ids, running.watchdog_id.as_slice()].concat());
    }
}

#[cfg(unix)]
fn kill_group(id: u32) {
    use rustix::process::{Pid, Signal, kill_process_group};

    // Nobody is left to kill if all have ended.
    let group = i32::try_from(id).ok().and_then(Pid::from_raw);
    let _ = group.map(|group| kill_process_group(group, Signal::KILL));
}

impl Process {
    /// Starts a command; `set` says what becomes of its streams and its environment.
    pub(super) fn start(command: &str, set: impl FnOnce(&mut Command)) -> Result<Self> {
        let (shell, flag) = if cfg!(windows) { ("cmd", "/C") } else { ("sh", "-c") };
        let mut shell = Command::new(shell);
        shell.args([flag, command]);
        set(&mut shell);
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(shell.env(MARK, mark()), 0);
        // A signal waits until the process is known.
        let mut running = running();
        let mut begin = || {
            running.begin()?;
            running.tell(true);
            shell.spawn()
        };
        let child = begin();
        running.ids.extend(child.as_ref().ok().map(Child::id));
        running.tell(false);
        let child = child.map_err(|error| anyhow!("cannot start the client: {}", reason(&error)))?;
        Ok(Self { child, is_ended: false })
    }

    /// Its standard input, which is given away once.
    pub(super) fn input(&mut self) -> Result<ChildStdin> {
        self.child.stdin.take().ok_or_else(|| anyhow!("the client has no standard input"))
    }

    /// Its standard output, line by line. At most one line waits, so that a client that writes for ever is held up.
    pub(super) fn lines(
        &mut self,
        is_wanted: fn(&[u8]) -> bool,
    ) -> Result<(SyncSender<ProcessOutput>, Receiver<ProcessOutput>)> {
        let output = self.child.stdout.take().ok_or_else(|| anyhow!("the client has no standard output"))?;
        let (sender, lines) = sync_channel(1);
        let own = sender.clone();
        std::thread::spawn(move || {
            let mut output = BufReader::new(output);
            while let Ok(Some(line)) = read_line(&mut output) {
                if is_wanted(&line)
                    && own.send(ProcessOutput::Line(String::from_utf8_lossy(&line).into_owned())).is_err()
                {
                    return;
                }
            }
            let _ = own.send(ProcessOutput::Ended);
        });
        Ok((sender, lines))
    }

    /// The end of a stream, of at most so many bytes, once it is closed.
    pub(super) fn end_of(stream: Option<impl Read + Send + 'static>, most: usize) -> Receiver<Vec<u8>> {
        let (sender, end) = sync_channel(1);
        std::thread::spawn(move || {
            let _ = sender.send(stream.map(|stream| last_bytes(stream, most)).unwrap_or_default());
        });
        end
    }

    pub(super) fn stdout(&mut self) -> Option<impl Read + Send + use<>> {
        self.child.stdout.take()
    }

    pub(super) fn stderr(&mut self) -> Option<impl Read + Send + use<>> {
        self.child.stderr.take()
    }

    /// Waits until the command has ended by itself, and then kills what it has left behind; `None` if it takes longer,
    /// and then it is killed too.
    pub(super) fn wait(&mut self, most: Duration) -> Option<ExitStatus> {
        let has_ended = self.ends_until(Instant::now() + most);
        let status = self.end();
        status.filter(|_| has_ended)
    }

    /// The error if a shell has said nothing and ended because it could not start its program.
    pub(super) fn check_started(mut self) -> Result<()> {
        let status = self.wait(GRACE);
        status.map_or(Ok(()), |status| check_status(status, ""))
    }

    /// Whether the leader ends in time. It stays what it is, so that its id is nobody else's when the group is killed.
    #[cfg(unix)]
    fn ends_until(&self, until: Instant) -> bool {
        use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let Some(id) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) else { return false };
        loop {
            match waitid(WaitId::Pid(id), options) {
                Ok(None) if Instant::now() < until => std::thread::sleep(PAUSE),
                Ok(None) => return false,
                Ok(Some(_)) | Err(_) => return true,
            }
        }
    }

    #[cfg(not(unix))]
    fn ends_until(&mut self, until: Instant) -> bool {
        loop {
            match self.child.try_wait() {
                Ok(None) if Instant::now() < until => std::thread::sleep(PAUSE),
                Ok(None) => return false,
                Ok(Some(_)) | Err(_) => return true,
            }
        }
    }

    /// Kills what is left of it.
    fn end(&mut self) -> Option<ExitStatus> {
        let mut running = running();
        #[cfg(unix)]
        if !self.is_ended {
            kill_group(self.child.id());
        }
        // It may have ended by itself.
        let _ = self.child.kill();
        #[cfg(unix)]
        if !self.is_ended {
            running.end_descendants(&[self.child.id()]);
        }
        self.is_ended = true;
        // Its id is nobody else's until it is waited for.
        running.ids.retain(|id| *id != self.child.id());
        running.tell(false);
        self.child.wait().ok()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if !self.is_ended {
            drop(self.child.stdin.take());
            self.wait(GRACE);
        }
    }
}

/// The statuses with which shells end if there is no such program, or if it is none.
const NOT_STARTED: [i32; 3] = [126, 127, 9009];

/// The error if a shell ended because it could not start its program; `said` is what it says of it.
pub(super) fn check_status(status: ExitStatus, said: &str) -> Result<()> {
    match status.code().filter(|code| NOT_STARTED.contains(code)) {
        Some(code) if said.is_empty() => Err(anyhow!(
            "the client could not be started: the shell ended with {code}, so there is no such program, or it is not executable"
        )),
        Some(_) => Err(anyhow!("the client could not be started: {said}")),
        None => Ok(()),
    }
}

pub(super) enum ProcessOutput {
    Line(String),
    /// It reads no more, or writes no more.
    Ended,
}

/// The streams of a client that reads and writes lines.
pub(super) fn piped(command: &mut Command) {
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
}

/// A line without its end; `None` after the last one. Of a line that is too long, all is skipped.
fn read_line(from: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    let mut is_too_long = false;
    loop {
        let bytes = match from.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            bytes => bytes?,
        };
        if bytes.is_empty() {
            return Ok((!line.is_empty() || is_too_long).then_some(line));
        }
        let end = bytes.iter().position(|byte| *byte == b'\n');
        let part = &bytes[..end.unwrap_or(bytes.len())];
        is_too_long |= line.len() + part.len() > LONGEST;
        if is_too_long {
            line = Vec::new();
        } else {
            line.extend_from_slice(part);
        }
        let read = end.map_or(bytes.len(), |end| end + 1);
        from.consume(read);
        if end.is_some() {
            return Ok(Some(line));
        }
    }
}

fn last_bytes(mut stream: impl Read, most: usize) -> Vec<u8> {
    let mut kept = Vec::new();
    let mut piece = [0; 16 << 10];
    // What cannot be read any more has ended.
    while let Ok(read @ 1..) = stream.read(&mut piece) {
        kept.extend_from_slice(&piece[..read]);
        if kept.len() > 2 * most {
            kept.drain(..kept.len() - most);
        }
    }
    kept.drain(..kept.len().saturating_sub(most));
    kept
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that panics has failed, which is what it is for")]

    use super::*;

    #[test]
    fn of_a_line_that_is_too_long_nothing_is_kept() {
        let text = [&b"one\n"[..], &vec![b'x'; LONGEST + 1], b"\ntwo"].concat();
        let mut from = BufReader::new(&*text);
        let lines: Vec<Vec<u8>> = std::iter::from_fn(|| read_line(&mut from).unwrap()).collect();
        assert_eq!(lines, [&b"one"[..], b"", b"two"]);
    }

    #[test]
    fn the_last_bytes_of_a_stream_are_kept() {
        let text: Vec<u8> = (0..200_000_u32).map(|number| u8::try_from(number % 251).unwrap()).collect();
        assert_eq!(last_bytes(&*text, 1000), &text[text.len() - 1000..]);
        assert_eq!(last_bytes(&b"ab"[..], 1000), b"ab");
    }
}
