#!/usr/bin/env node
// Runs the program of the package for this machine.

"use strict";

const { spawn } = require("node:child_process");
const { constants } = require("node:os");
const { packaged } = require("../lib/binary.js");

let program;
try {
  // Never the one on the PATH: that may be this very file.
  program = process.env.TOOLCHECK_BIN || packaged();
} catch (error) {
  console.error(`error: ${error.message}`);
  process.exit(2);
}
const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
// Whoever ends this process means the program, such as a server.
const signals = ["SIGINT", "SIGTERM", "SIGHUP"];
for (const signal of signals) process.on(signal, () => child.kill(signal));
child.on("error", (error) => {
  console.error(`error: cannot run ${program}: ${error.message}`);
  process.exit(2);
});
child.on("exit", (status, signal) => {
  process.exitCode = status ?? 128 + constants.signals[signal];
});
