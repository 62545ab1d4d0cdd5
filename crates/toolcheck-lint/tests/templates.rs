//! Chat templates that toolcheck can't run to their end.

use std::sync::Arc;

use toolcheck_core::Level;
use toolcheck_lint::{Options, lint};
use toolcheck_template::Template;

/// The findings about a clean request, with this template: their level, place and message.
fn findings(template: &str) -> Vec<(Level, String, String)> {
    let text = r#"{"messages": [{"role": "user", "content": "when is high tide?"}]}"#;
    let template = Template::from_file_bytes("a.jinja", template.as_bytes()).unwrap();
    let options = Options::new().template(Some(Arc::new(template.into())));
    let report = lint("request.json", text.as_bytes(), &options);
    let findings = report.findings.into_iter();
    findings
        .map(|finding| (finding.level, finding.spot.pointer.to_string(), finding.message.to_string()))
        .collect()
}

#[test]
fn what_is_not_checked_is_not_clean() {
    let unknown = findings("{% include 'tools.jinja' %}{% for m in messages %}{{ m.content }}{% endfor %}");
    let endless = findings("{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}");
    let warning = |message: &str| vec![(Level::Warning, "/messages".to_owned(), message.to_owned())];
    assert_eq!(
        unknown,
        warning("toolcheck can't run the chat template here: the tag include, which needs other files")
    );
    assert_eq!(
        endless,
        warning("toolcheck can't run the chat template here: the template makes too many texts")
    );
    assert_eq!(findings("{% for m in messages %}{{ m.content }}{% endfor %}"), []);
}
