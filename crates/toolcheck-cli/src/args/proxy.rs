//! The arguments of `toolcheck proxy`.

use std::path::PathBuf;

use clap::Args;
use toolcheck_serve::Strictness;

use super::serve::{ListenArgs, STRICT};
use super::{choice_parser, number, target_parser};

#[derive(Debug, Args)]
#[command(
    after_help = include_str!("help/proxy.txt").trim_ascii_end(),
    mut_arg("allow_host", |arg| arg.help("Pass on requests that name this host too, such as `host.docker.internal`; may be repeated")),
    mut_arg("allow_origin", |arg| arg.help("Pass on requests from web pages of this origin, such as `https://app.example`; may be repeated")),
    mut_arg("max_body", |arg| arg.help("Maximum size of a request body, and of the recorded part of a response, in bytes")),
)]
pub(crate) struct ProxyArgs {
    /// Base URL to which requests are passed on, such as `https://api.openai.com`; `https` needs a released program or a
    /// build with the feature `tls`
    #[arg(long, value_name = "URL")]
    pub(crate) upstream: String,

    /// Certificates to trust besides those of the system, in PEM
    #[arg(long, value_name = "FILE")]
    pub(crate) ca_file: Option<PathBuf>,

    /// API that requests are checked against: an id from `toolcheck targets`, or a TOML file [default: that of the path]
    #[arg(long, value_name = "ID|FILE", value_parser = target_parser(), hide_possible_values = true)]
    pub(crate) target: Option<String>,

    /// Also report which requests this API would refuse
    #[arg(long, value_name = "ID|FILE", value_parser = target_parser(), hide_possible_values = true)]
    pub(crate) against: Option<String>,

    /// Answer a request that the API refuses, and do not pass it on
    #[arg(long)]
    pub(crate) refuse: bool,

    /// Which refusals to enforce
    #[arg(long, value_name = "HOW", value_parser = choice_parser(STRICT), default_value = "known")]
    pub(crate) strict: Strictness,

    /// Port on the loopback interface; 0 chooses a free port
    #[arg(long, value_name = "PORT", value_parser = number::<u16>, default_value_t = 0)]
    pub(crate) port: u16,

    #[command(flatten)]
    pub(crate) listen: ListenArgs,
}
