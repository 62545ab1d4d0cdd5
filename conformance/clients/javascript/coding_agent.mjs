// Coding agents as commands: `coding_agent.mjs AGENT`. Each message starts the agent, which goes on with its last session.
// Their own shell takes the place of the tools (`profiles`); each conversation has a home of its own.

import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { serve, talk } from "./common.mjs";

const MODELS = {
  anthropic: "claude-opus-4-8",
  gemini: "gemini-2.5-pro",
  "openai-chat": "gpt-4o",
  "openai-responses": "gpt-5.4",
};
const WINDOW = 200_000;
const bin = (name) => join(import.meta.dirname, "node_modules", ".bin", name);

function write(file, text) {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, typeof text === "string" ? text : JSON.stringify(text));
}

// What is written before the start, and the command line. `isFirst` begins a session.
const AGENTS = {
  codex: {
    formats: ["openai-responses"],
    command(home, url, format, text, isFirst) {
      const provider = `name = "mock"\nbase_url = "${url}/v1"\nenv_key = "MOCK_KEY"\nrequest_max_retries = 0\nstream_max_retries = 0\n`;
      const limits = `model_context_window = ${WINDOW}\nmodel_auto_compact_token_limit = ${WINDOW / 2}\n`;
      const rights = `approval_policy = "never"\nsandbox_mode = "danger-full-access"\ncheck_for_update_on_startup = false\n`;
      const model = `model = "${MODELS[format]}"\nmodel_provider = "mock"\n`;
      const rest = `[analytics]\nenabled = false\n[model_providers.mock]\n${provider}`;
      write(join(home, ".codex", "config.toml"), model + rights + limits + rest);
      return [bin("codex"), "exec", ...(isFirst ? [] : ["resume", "--last"]), "--skip-git-repo-check", text];
    },
  },
  "gemini-cli": {
    formats: ["gemini"],
    command(home, _url, format, text, isFirst) {
      write(join(home, ".gemini", "settings.json"), {
        privacy: { usageStatisticsEnabled: false },
        general: { enableAutoUpdate: false },
        model: { compressionThreshold: 0.1 },
        security: { auth: { selectedType: "gemini-api-key" }, folderTrust: { enabled: false } },
      });
      const resume = isFirst ? [] : ["--resume", "latest"];
      return [bin("gemini"), "--yolo", "--skip-trust", "-m", MODELS[format], ...resume, "-p", text];
    },
  },
  opencode: {
    formats: ["anthropic", "openai-chat"],
    command(home, url, format, text, isFirst) {
      const npm = { anthropic: "@ai-sdk/anthropic", "openai-chat": "@ai-sdk/openai-compatible" }[format];
      const models = { own: { id: MODELS[format], tool_call: true, limit: { context: WINDOW, output: 8000 } } };
      write(join(home, "work", "opencode.json"), {
        autoupdate: false,
        share: "disabled",
        permission: "allow",
        model: "mock/own",
        small_model: "mock/own",
        enabled_providers: ["mock"],
        provider: { mock: { npm, options: { baseURL: `${url}/v1`, apiKey: "x" }, models } },
      });
      // Without a title, it asks for one.
      return [bin("opencode"), "run", ...(isFirst ? [] : ["--continue"]), "--title", "talk", text];
    },
  },
  pi: {
    formats: ["anthropic", "openai-chat", "openai-responses"],
    command(home, url, format, text, isFirst) {
      const api = { anthropic: "anthropic-messages", "openai-chat": "openai-completions" }[format] ?? format;
      const baseUrl = format === "anthropic" ? url : `${url}/v1`;
      const models = [{ id: MODELS[format], contextWindow: WINDOW, maxTokens: 8000 }];
      write(join(home, ".pi", "agent", "models.json"), { providers: { mock: { baseUrl, apiKey: "x", api, models } } });
      const compaction = { enabled: true, keepRecentTokens: 20 };
      write(join(home, ".pi", "agent", "settings.json"), { compaction, retry: { enabled: false } });
      const model = ["--provider", "mock", "--model", MODELS[format]];
      return [bin("pi"), ...model, ...(isFirst ? [] : ["--continue"]), "-p", text];
    },
  },
};

// Nobody but the mock is reached.
const NOWHERE = "http://127.0.0.1:9";
const SETTINGS = {
  ...Object.fromEntries(["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"].map((name) => [name, NOWHERE])),
  NO_PROXY: "127.0.0.1,localhost",
  no_proxy: "127.0.0.1,localhost",
  CI: "1",
  DO_NOT_TRACK: "1",
  MOCK_KEY: "x",
  GEMINI_API_KEY: "x",
  OPENCODE_DISABLE_AUTOUPDATE: "1",
  OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
  OPENCODE_DISABLE_MODELS_FETCH: "1",
  PI_OFFLINE: "1",
};

const agent = AGENTS[process.argv[2]];

// The last line that tells of an error, without colours.
function reason(texts) {
  const lines = texts.join("\n").replace(/\u001b\[[\d;]*m/g, "").split("\n").filter((line) => line.trim());
  return lines.findLast((line) => /error|too long|exceeds/i.test(line) && !/^\s+at /.test(line)) ?? lines.at(-1);
}

function said([program, ...rest], home, url, onCalled, signal) {
  const called = join(home, "called");
  const own = { PATH: process.env.PATH, HOME: home, TOOLCHECK_CALLED: called, GOOGLE_GEMINI_BASE_URL: url };
  const options = { cwd: join(home, "work"), env: { ...SETTINGS, ...own }, stdio: ["ignore", "pipe", "pipe"], detached: true };
  return new Promise((done, failed) => {
    const running = spawn(program, rest, options);
    const texts = ["", ""];
    [running.stdout, running.stderr].forEach((stream, at) => stream.on("data", (text) => (texts[at] += text)));
    const watching = setInterval(() => {
      if (!existsSync(called)) return;
      rmSync(called);
      onCalled();
    }, 50);
    // As Ctrl+C in a terminal does.
    signal?.addEventListener("abort", () => process.kill(-running.pid, "SIGINT"));
    running.on("error", failed);
    running.on("close", (status) => {
      clearInterval(watching);
      if (status === 0) done(texts[0].trim());
      else failed(new Error(`exit status ${status}: ${reason(texts)}`));
    });
  });
}

async function run(task) {
  const home = mkdtempSync(join(tmpdir(), "coding-agent-"));
  mkdirSync(join(home, "work"));
  let isFirst = true;
  try {
    return await talk(task, async (message) => {
      const command = agent.command(home, task.base_url, message.format, message.text, isFirst);
      isFirst = false;
      const slow = message.tools.find((tool) => tool.name === "slow");
      return await said(command, home, task.base_url, () => slow.run({ text: "" }), message.signal);
    });
  } finally {
    rmSync(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
}

await serve(run, agent.formats, ["interrupt"], agent.formats);
