//! `toolcheck proxy`: checks requests on their way to an API.

use std::io::Write;
use std::sync::Mutex;

use anyhow::{Result, anyhow};
use serde_json::json;
use toolcheck_core::text::{Counted, line, reason, shown};
use toolcheck_serve::{Proxy, ProxyBuilder, Upstream};

use super::serve::{create, keep, read, tell, wait};
use super::shapes;
use crate::args::ProxyArgs;
use crate::{Status, screen};

pub(crate) fn run(args: &ProxyArgs, out: &mut dyn Write) -> Result<Status> {
    let proxy = builder(args)?
        .start()
        .map_err(|error| anyhow!("cannot listen on port {}: {}", args.port, reason(&error)))?;
    writeln!(out, "{}", json!({"url": proxy.url()}))?;
    out.flush()?;
    wait(args.listen.keep_running);
    let passed = proxy.finish();
    let against = args
        .against
        .as_ref()
        .map_or_else(String::new, |target| format!(", {} by {}", passed.refused_against, shown(target)));
    let requests = Counted(passed.requests, "request");
    let unchecked = match passed.unchecked {
        0 => String::new(),
        many => format!("; {} to other paths not checked", Counted(many, "request")),
    };
    let unanswered = match passed.unanswered {
        0 => String::new(),
        many => format!(", {many} without an answer"),
    };
    screen::message(
        "note",
        &format!("{requests}, {} refused{against}{unanswered}{unchecked}", passed.refused),
    );
    let is_clean = passed.refused + passed.refused_against == 0;
    Ok(if is_clean { Status::Clean } else { Status::Findings })
}

fn builder(args: &ProxyArgs) -> Result<ProxyBuilder> {
    let trusted = args.ca_file.as_deref().map(read).transpose()?.unwrap_or_default();
    if args.ca_file.is_some() && trusted.is_empty() {
        return Err(anyhow!("the file of `--ca-file` is empty"));
    }
    let mut builder = Proxy::builder(Upstream::trusting(&args.upstream, &trusted)?)
        .port(args.port)
        .max_body(args.listen.max_body)
        .refuse(args.refuse)
        .strictness(args.strict);
    builder = args.listen.allow_host.iter().fold(builder, ProxyBuilder::allow_host);
    builder = args.listen.allow_origin.iter().fold(builder, ProxyBuilder::allow_origin);
    if let Some(name) = &args.target {
        builder = builder.target(shapes::load(name)?);
    }
    if let Some(name) = &args.against {
        builder = builder.against(shapes::load(name)?);
    }
    let record = args.listen.record.as_deref().map(create).transpose()?.map(Mutex::new);
    let against = args.against.clone().unwrap_or_default();
    builder = builder.on_unchecked(|asked| {
        screen::message(
            "note",
            &format!("{}: passed on unchecked: not the path of a conversation", line(asked)),
        );
    });
    Ok(builder.on_exchange(move |exchange| {
        if let Some(refused) = &exchange.refused {
            tell("refused", exchange, refused);
        }
        if let Some(refused) = &exchange.against {
            tell(&format!("refused by {}", shown(&against)), exchange, refused);
        }
        if let Some(why) = &exchange.missed {
            screen::message("unanswered", &line(&format!("{}: {why}", exchange.path)));
        }
        if let Some(file) = &record {
            keep(file, exchange);
        }
    }))
}
