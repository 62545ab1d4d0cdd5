//! What the help of commands ends with.

pub(super) const MAIN: &str = "\
Exit status: 0 if no errors were found (with `--fail-on warning`: no warnings either), 1 if
some were, 2 for invalid usage, or if an input could not be read or an output could not be
written. The help of a command says where it differs.

Colors: --color takes precedence, then NO_COLOR, then FORCE_COLOR or CLICOLOR_FORCE.
Without any of them, output is colored on a terminal.

Examples:
  toolcheck lint request.json                     # a request body, or a list of messages
  toolcheck lint 'logs/**/*.jsonl' --kind session # recordings of sessions
  toolcheck lint history.json --target bedrock    # would another API accept it?
  toolcheck fix history.json                      # fix what can be fixed without losing anything
  toolcheck show request.json                     # an outline with the problems marked
  toolcheck explain unanswered-tool-call          # the page of a rule
  toolcheck explain --error 'messages.2: `tool_use` ids were found without ...' request.json";

#[cfg(feature = "lsp")]
pub(super) const SERVER: &str = "\
It speaks the Language Server Protocol over standard input and output: an editor
starts it. docs/editors.md has the settings for editors.

Exit status: 0 if the editor shut the server down, 1 if the server ended before that, 2 if
the connection broke.";

pub(super) const EXPLAIN: &str = "\
Exit status: 0 if it was explained; with --error and a file, if the cause was found.
1 if the error is unknown, or nothing in the file causes it. 2 for invalid usage, or if
the file could not be read.

Examples:
  toolcheck explain unanswered-tool-call
  toolcheck explain parallel-one-fails   # a scenario of `toolcheck conform`
  toolcheck explain --error 'messages.2: `tool_use` ids were found without ...' request.json
  pbpaste | toolcheck explain --error - request.json";

pub(super) const COMPLETIONS: &str = "\
Examples:
  toolcheck completions bash > ~/.local/share/bash-completion/completions/toolcheck
  toolcheck completions zsh > ~/.zfunc/_toolcheck      # with ~/.zfunc in fpath
  toolcheck completions fish > ~/.config/fish/completions/toolcheck.fish";

pub(super) const MAN: &str = "\
Examples:
  toolcheck man | man -l -
  toolcheck man ~/.local/share/man/man1";

pub(super) const LINT: &str = "\
Exit status: 0 if no finding is at or above --fail-on, 1 if one is, or if an entry of the
baseline is stale, 2 for invalid usage, or if an input could not be read or an output could
not be written.

Examples:
  toolcheck lint request.json
  toolcheck lint logs --kind session --fail-on warning
  toolcheck lint history.json --target bedrock
  toolcheck lint train.jsonl --kind dataset --output-format summary
  toolcheck lint logs --output-format full,sarif=toolcheck.sarif";

pub(super) const FIX: &str = "\
Exit status: 0 if no finding at or above --fail-on is left, 1 if one is (with --diff or
--plan, also if something would change), 2 for invalid usage, or if a file could not be read
or written.

Examples:
  toolcheck fix --diff history.json               # what would change
  toolcheck fix history.json
  toolcheck fix --kind dataset train.jsonl        # nothing is invented in training data
  toolcheck fix --only unanswered-tool-call --place 41 history.json";

pub(super) const SHOW: &str = "\
Exit status: 0 if the file was shown, whatever its problems, 2 otherwise.

Examples:
  toolcheck show request.json
  toolcheck show request.json --target bedrock --text
  toolcheck show session.jsonl --next --output-format markdown";

pub(super) const TEST: &str = "\
Exit status: 0 if all cases passed, 1 if one failed, 2 for invalid usage, if a file could not
be read or written, or if there are no cases.

Examples:
  toolcheck test corpus
  toolcheck test corpus a.json                    # only cases with this in their path
  toolcheck test corpus --bless=new               # write the expectations that are missing";
