//! What was said, as `toolcheck show` prints it.

use toolcheck_lint::Options;

use super::ScenarioRun;
use crate::show::outputs;
use crate::{Style, View, outline};

/// The exchanges of a run as text; empty if there are none.
pub(super) fn picture(run: &ScenarioRun, width: usize) -> String {
    if run.exchanges.is_empty() {
        return String::new();
    }
    let lines: String = run.exchanges.iter().map(|exchange| format!("{exchange}\n")).collect();
    let outline = outline("exchanges", lines.as_bytes(), &Options::new(), &View::new());
    let mut text = Vec::new();
    // Nothing can fail that is written to memory.
    let _ =
        outputs::find("text").map(|output| (output.write)(&outline, &Style::new().width(width), &mut text));
    let mut text = String::from_utf8_lossy(&text).into_owned();
    if run.exchanges_left_out > 0 {
        text.push_str(&format!("... and {} more\n", run.exchanges_left_out));
    }
    text
}
