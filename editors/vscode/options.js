// What the server is told of the editor's settings: the names of `toolcheck server`, without what is not set.

const NAMES = ["target", "format", "kind", "config"];

exports.initializationOptions = (settings) => {
  const set = NAMES.map((name) => [name, settings.get(name)]).filter(([, value]) => value);
  return Object.fromEntries(set);
};

exports.selector = ["json", "jsonc", "jsonl"].flatMap((language) => [
  { scheme: "file", language },
  { scheme: "untitled", language },
]);
