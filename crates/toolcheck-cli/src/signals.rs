//! Signals that end the program while it writes.

/// Removes temporary files and ends clients before SIGINT or SIGTERM ends the program. Elsewhere than on Unix, temporary
/// files stay behind.
#[cfg(unix)]
pub(crate) fn catch() {
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    // A file that grows beyond `ulimit -f` is an error like a full disk, and not the end of the program.
    let _ = signal_hook::flag::register(libc::SIGXFSZ, Arc::new(AtomicBool::new(false)));
    // Without a thread, signals end the program as they always do.
    let _ = std::thread::Builder::new().name("signals".to_owned()).spawn(wait);
}

#[cfg(unix)]
fn wait() {
    use signal_hook::consts::{SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;
    use signal_hook::low_level::emulate_default_handler;

    let Ok(mut signals) = Signals::new([SIGINT, SIGTERM]) else { return };
    if let Some(signal) = signals.forever().next() {
        let _unfinished = toolcheck_files::remove_unfinished();
        #[cfg(feature = "serve")]
        crate::commands::conform::process::kill_all();
        let _ = emulate_default_handler(signal);
        // It has ended the program, or nothing else can.
        std::process::exit(128 + signal);
    }
}

#[cfg(not(unix))]
pub(crate) fn catch() {}
