//! Signals that end the program, or what it waits for.

use std::sync::mpsc::Sender;
use std::sync::{Mutex, PoisonError};

/// Who is told of the first signal, in place of an end of the program.
static TOLD: Mutex<Option<Sender<()>>> = Mutex::new(None);

/// Makes the first SIGINT or SIGTERM a message. The next one ends the program.
pub(crate) fn tell(ended: Sender<()>) {
    *TOLD.lock().unwrap_or_else(PoisonError::into_inner) = Some(ended);
}

/// Removes temporary files, and does what is to be done at the `end`, before SIGINT or SIGTERM ends the program. Elsewhere
/// than on Unix, temporary files stay behind.
#[cfg(unix)]
pub(crate) fn catch(end: fn()) {
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    // A file that grows beyond `ulimit -f` is an error like a full disk, and not the end of the program.
    let _ = signal_hook::flag::register(libc::SIGXFSZ, Arc::new(AtomicBool::new(false)));
    // Without a thread, signals end the program as they always do.
    let _ = std::thread::Builder::new().name("signals".to_owned()).spawn(move || wait(end));
}

#[cfg(unix)]
fn wait(end: fn()) {
    use signal_hook::consts::{SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;
    use signal_hook::low_level::emulate_default_handler;

    let Ok(mut signals) = Signals::new([SIGINT, SIGTERM]) else { return };
    for signal in signals.forever() {
        let told = TOLD.lock().unwrap_or_else(PoisonError::into_inner).take();
        if told.is_some_and(|told| told.send(()).is_ok()) {
            continue;
        }
        let _unfinished = toolcheck_files::remove_unfinished();
        end();
        let _ = emulate_default_handler(signal);
        // It has ended the program, or nothing else can.
        std::process::exit(128 + signal);
    }
}

#[cfg(not(unix))]
pub(crate) fn catch(_: fn()) {}
