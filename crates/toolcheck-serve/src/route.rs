//! Which conversation a path asks for.

use toolcheck_core::Format;
use toolcheck_core::endpoint;
use toolcheck_core::formats;
use toolcheck_core::reply::Framing;
use toolcheck_core::route::{self, Streaming};
use toolcheck_core::targets::{self, Target};
use toolcheck_json::percent_decoded;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Route {
    /// The id of the format of the request.
    pub(crate) format: &'static str,
    pub(crate) streaming: Streaming,
    /// The model, if the path names it.
    pub(crate) model: Option<String>,
    /// The deployment that the path names, whose model only its owner knows.
    pub(crate) deployment: Option<String>,
    pub(crate) framing: Framing,
    /// The target whose errors are written, if they are not those of the one that is asked.
    pub(crate) errors_of: Option<&'static str>,
}

impl Route {
    /// That of requests in a format whose path says nothing else.
    pub(crate) fn of(format: &'static Format) -> Self {
        let (format, framing) = (format.id, format.framing);
        let streaming = Streaming::Body(false);
        Self { format, streaming, framing, model: None, deployment: None, errors_of: None }
    }
}

/// Where a client sends the requests of a format, after the base URL of `toolcheck serve`. The model counts only for
/// formats whose requests do not name it.
pub fn path(format: &Format, model: &str, is_streamed: bool) -> String {
    let fits = |streaming| !matches!(streaming, Streaming::Path(other) if other != is_streamed);
    let route = format.routes.iter().find(|route| fits(route.streaming));
    route.map_or_else(|| "/".to_owned(), |route| route.path(model))
}

/// What a path asks for; `None` if it asks for no conversation. Whatever stands before it is free: clients add a base to
/// it. Of formats that share their path, it is that of the target, or the one that most servers speak.
pub(crate) fn route(path: &str, target: Option<&Target>) -> Option<Route> {
    let path = path.trim_end_matches('/');
    let own = target.and_then(|target| target.format.as_deref());
    let order = |format: &Format| (Some(format.id) != own, !format.marks.is_shared);
    let (format, route, model) = endpoint::of_path(path).min_by_key(|(format, ..)| order(format))?;
    Some(Route {
        format: format.id,
        streaming: route.streaming,
        model: model.map(|name| percent_decoded(name).into_owned()),
        deployment: deployment(path),
        framing: route.framing.unwrap_or(format.framing),
        errors_of: route.errors_of,
    })
}

/// What to tell of a path that no API has, if it is the end of one: the base URL of the client lacks its first step.
pub(crate) fn lacking(path: &str) -> Option<String> {
    let end = path.trim_end_matches('/');
    let routes =
        formats::ALL.iter().flat_map(|format| format.routes.iter().map(move |route| (format, route)));
    let known: Vec<_> = routes
        .filter_map(|(format, route)| {
            let whole = route.path("");
            let step =
                whole.strip_suffix(end).filter(|step| end.starts_with('/') && step.rfind('/') == Some(0))?;
            Some((step.to_owned(), format!("`{whole}` ({})", format.id)))
        })
        .collect();
    let steps: Vec<_> = known.iter().map(|(step, _)| format!("`{step}`")).collect();
    let wholes: Vec<_> = known.iter().map(|(_, whole)| &**whole).collect();
    let (steps, wholes) = (steps.join(" or "), wholes.join(" and "));
    (!known.is_empty())
        .then(|| format!("does the client's base URL lack {steps} at its end? There is {wholes}"))
}

/// A path as the server behind it may read it: without escapes, empty steps and what stands behind a `;` in a step. An
/// escaped `/` becomes one only if `splits`.
pub(crate) fn plain_path(path: &str, splits: bool) -> String {
    let mut path = path.to_owned();
    // Some servers decode again what they pass on.
    for _ in 0..3 {
        if !splits {
            path = path.replace("%2f", "%252f").replace("%2F", "%252F");
        }
        path = percent_decoded(&path).into_owned();
    }
    let steps = path.split(['/', '\\']).map(|step| step.split(';').next().unwrap_or_default());
    let steps: String = steps.filter(|step| !step.is_empty()).flat_map(|step| ["/", step]).collect();
    known_case(steps)
}

/// A path whose end is written as the APIs write it, which some servers do not insist on.
fn known_case(mut path: String) -> String {
    let routes = formats::ALL.iter().flat_map(|format| format.routes);
    let start = |end: &str| path.len().checked_sub(end.len()).filter(|start| path.is_char_boundary(*start));
    let is_end = |end: &str| start(end).is_some_and(|start| path[start..].eq_ignore_ascii_case(end));
    let mut ends = routes.map(route::Route::ends);
    if let Some((before, end)) = ends.find(|(_, end)| is_end(end)) {
        path.truncate(path.len() - end.len());
        // What stands before the name of a model, as well.
        if let Some(at) = path.to_ascii_lowercase().rfind(before) {
            path.replace_range(at..at + before.len(), before);
        }
        path.push_str(end);
    }
    path
}

/// The model that Azure's paths name before the end: `/openai/deployments/NAME/chat/completions`.
fn deployment(before: &str) -> Option<String> {
    let (_, rest) = before.split_once("/deployments/")?;
    rest.split('/').next().filter(|name| !name.is_empty()).map(|name| percent_decoded(name).into_owned())
}

/// Whether a path is one of the target's API. A target of no format has any.
pub(crate) fn is_at_home(path: &str, target: &Target) -> bool {
    let is_own = |own: &str| route(path, Some(target)).is_some_and(|route| route.format == own);
    target.format.as_deref().is_none_or(is_own)
}

/// The API that alone has the path, or whose own client it is, by its name, of those that share the path.
pub(crate) fn of_client(path: &str, agent: &str) -> Option<&'static Target> {
    let own = targets::all().find(|target| target.has_path(path) && is_at_home(path, target));
    let formats = endpoint::of_path(path.trim_end_matches('/')).map(|(format, ..)| format);
    let mut targets = formats.filter_map(|format| targets::find(format.id));
    own.or_else(|| targets.find(|target| target.has_client(agent)))
}

#[cfg(test)]
mod tests {
    use toolcheck_core::targets;

    use super::*;

    #[test]
    fn other_spellings_of_a_path_are_the_path() {
        let format = |path: &str, splits| route(&plain_path(path, splits), None).map(|route| route.format);
        for (path, wanted) in [
            ("/v1/%63hat/completions", "openai-chat"),
            ("/v1/%2563hat/completions", "openai-chat"),
            ("/V1/CHAT/completions", "openai-chat"),
            ("/v1;a=b/chat;c/completions;d/", "openai-chat"),
            ("/v1/chat//completions", "openai-chat"),
            ("/v1\\chat%5ccompletions", "openai-chat"),
            ("/v1/Message%73", "anthropic"),
            ("/v1beta/models/gemini-3-pro:GENERATECONTENT", "gemini"),
            ("/v1beta/models/gemini-3-pro%3agenerateContent", "gemini"),
            ("/MODEL/arn%3Aaws%2Fprofile%2Fx/Converse", "bedrock-converse"),
        ] {
            assert_eq!(format(path, false), Some(wanted), "{path}");
        }
        assert_eq!(format("/v1%2fchat%2Fcompletions", true), Some("openai-chat"));
        for path in ["/v1/embeddings", "/%", "/v1/chat/completions%zz", "/%C3%A4", "ä", ""] {
            assert_eq!(format(path, true), None, "{path}");
        }
    }

    #[test]
    fn a_path_that_lacks_its_first_step_is_told_whole() {
        for (path, told) in [
            (
                "/messages",
                "does the client's base URL lack `/v1` at its end? There is `/v1/messages` (anthropic)",
            ),
            (
                "/chat/",
                "does the client's base URL lack `/v2` or `/api` at its end? There is `/v2/chat` (cohere) and `/api/chat` (ollama)",
            ),
        ] {
            assert_eq!(lacking(path).as_deref(), Some(told), "{path}");
        }
        for path in ["/", "", "messages", "/sages", "/completions", "/embeddings", "/v1/embeddings"] {
            assert_eq!(lacking(path), None, "{path}");
        }
    }

    #[test]
    fn each_format_has_a_path() {
        for format in formats::ALL {
            let target = targets::find(format.id);
            for is_streamed in [false, true] {
                let found = route(&path(format, "a-model", is_streamed), target);
                let found = found.unwrap_or_else(|| panic!("{} has a path", format.id));
                assert_eq!(found.format, format.id);
                assert!(
                    matches!(found.streaming, Streaming::Body(_))
                        || found.streaming == Streaming::Path(is_streamed)
                );
            }
        }
    }
}
