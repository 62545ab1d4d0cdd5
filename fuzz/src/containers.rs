//! Opening any bytes, as every kind of file that holds requests inside something else.

use toolcheck_lint::{Options, Report, lint_opened, rules};
use toolcheck_open::{Limits, open_as};
use toolcheck_report::{Style, View, outline_opened, outputs};

use super::take;

/// The first byte chooses the kind of file; the rest is the file.
pub fn run(mut data: &[u8]) {
    let choice = take(&mut data);
    let container = toolcheck_open::ALL.get(choice % (2 * toolcheck_open::ALL.len())).copied();
    let limits = Limits::new(if choice < 128 { 1 << 20 } else { 1000 });
    let Some(opened) = open_as(container, data, limits) else { return };
    assert!(opened.text.len() <= limits.most_bytes + 200 * opened.exchanges, "more is made than is allowed");
    let source = opened.source(data);
    for (made, at) in opened.origins.same_bytes() {
        let is_break = opened.text[made] == b' ' && matches!(source[at], b'\n' | b'\r');
        assert!(is_break || opened.text[made] == source[at], "a byte at {made} is not the one at {at}");
    }
    let options = Options::new().rules(rules::ALL.to_vec());
    let file = lint_opened("case.yaml", data, &opened, &options);
    for finding in &file.findings {
        let labels = finding.labels.iter().map(|label| &label.spot);
        for spot in labels.chain([&finding.spot]) {
            assert!(spot.bytes.start <= spot.bytes.end && spot.bytes.end <= source.len(), "{spot:?}");
            assert!(spot.start.line >= 1 && spot.start <= spot.end, "{spot:?}");
        }
    }
    let report = Report::new(vec![file]);
    let output = outputs::ALL[choice % outputs::ALL.len()];
    let mut written = Vec::new();
    (output.write)(&report, &Style::new(), &mut written).expect("writing to memory never fails");
    let _ = outline_opened("case.yaml", data, &opened, &options, &View::new());
}
