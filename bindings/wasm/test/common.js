import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
export const FIXTURES = join(ROOT, "fixtures");

/** The program that the module is compared with. */
export const PROGRAM = process.env.TOOLCHECK_BIN && existsSync(process.env.TOOLCHECK_BIN) ? process.env.TOOLCHECK_BIN : undefined;

/** All files in a folder, with their whole paths. */
export function files(folder) {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => !entry.name.startsWith("."))
    .flatMap((entry) => (entry.isDirectory() ? files(join(folder, entry.name)) : [join(folder, entry.name)]))
    .sort();
}

/** A call without a result. */
export const UNANSWERED = {
  max_tokens: 1024,
  tools: [{ name: "find_ferry", input_schema: { type: "object" } }],
  messages: [
    { role: "user", content: "When does the ferry leave?" },
    { role: "assistant", content: [{ type: "tool_use", id: "toolu_pier", name: "find_ferry", input: {} }] },
    { role: "user", content: "Well?" },
  ],
};
export const CLEAN = { max_tokens: 9, messages: [{ role: "user", content: "Good morning." }] };
export const PLACE = "/messages/1/content/0";
