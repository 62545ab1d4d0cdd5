// What the server is told of the editor's settings, and which files it gets to see.

const NAMES = ["target", "format", "kind", "config"];

/**
 * The settings by the names of `toolcheck server`, without what is not set.
 * @param {Pick<import("vscode").WorkspaceConfiguration, "get">} settings
 * @returns {Record<string, string | true>}
 */
exports.initializationOptions = (settings) => {
  /** @type {Record<string, string | true>} */
  const set = {};
  for (const name of NAMES) {
    const value = settings.get(name);
    if (typeof value === "string" && value !== "") set[name] = value;
  }
  if (settings.get("workspace") === true) set.workspace = true;
  return set;
};

// A recording is YAML, or a HAR archive, which is JSON unless somebody has associated it with another language.
exports.languages = ["json", "jsonc", "jsonl", "yaml"];

// VS Code has no language for the configuration, in which the server shows what is wrong.
exports.configurations = "**/{toolcheck,.toolcheck}.toml";
exports.patterns = ["**/*.{har,ndjson}", exports.configurations];

/** @type {{ scheme: string, language?: string, pattern?: string }[]} */
exports.selector = [
  ...exports.languages.flatMap((language) => [
    { scheme: "file", language },
    { scheme: "untitled", language },
  ]),
  ...exports.patterns.map((pattern) => ({ scheme: "file", pattern })),
];
