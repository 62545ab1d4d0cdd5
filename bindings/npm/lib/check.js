// Sees whether options are known, so that a typo or a wrong type is told by the name that the user wrote.
// `toolcheck` and `toolcheck-wasm` have the same file, as a script and as a module.

"use strict";

const { ToolcheckError } = require("./error.js");

const EXPECTED = {
  any: "something",
  string: "a string",
  strings: "a string or a list of strings",
  boolean: "true or false",
  number: "a number",
  count: "a whole number from 1",
  function: "a function",
  list: "a list",
  names: "a string or a list of strings",
  object: "an object",
  body: "a list of tools, or a body with them",
};

const FITS = {
  any: () => true,
  string: (value) => typeof value === "string",
  strings: (value) => typeof value === "string" || (Array.isArray(value) && value.every(FITS.string)),
  boolean: (value) => typeof value === "boolean",
  number: (value) => typeof value === "number",
  count: (value) => Number.isInteger(value) && value > 0,
  function: (value) => typeof value === "function",
  list: (value) => typeof value?.[Symbol.iterator] === "function",
  // Whatever can be walked through, which is not done here: that may work only once.
  names: (value) => typeof value?.[Symbol.iterator] === "function",
  object: (value) => typeof value === "object" && value !== null,
  // What is wrong with it is told when it is read.
  body: (value) => value !== null,
};

/** Sees whether options are known ones with values that they can have. `where` is what errors call them. */
function check(options, known, { where = "the options are", one = "option", before = "" } = {}) {
  if (typeof options !== "object" || options === null || Array.isArray(options)) {
    throw new ToolcheckError(`${before}${where} ${described(options)}: give an object`);
  }
  for (const [name, value] of Object.entries(options)) {
    const type = Object.hasOwn(known, name) ? known[name] : undefined;
    if (type === undefined) {
      const names = Object.keys(known);
      const similar = names.find((other) => isSimilar(name, other));
      throw new ToolcheckError(`${before}there is no ${one} \`${name}\`${similar ? `; did you mean \`${similar}\`?` : `; there are ${names.join(", ")}`}`);
    }
    if (value === undefined) continue;
    const fits = Array.isArray(type) ? type.includes(value) : FITS[type](value);
    if (!fits) {
      const expected = Array.isArray(type) ? type.map((one) => JSON.stringify(one)).join(" or ") : EXPECTED[type];
      throw new ToolcheckError(`${before}the ${one} \`${name}\` is ${described(value)}; expected ${expected}`);
    }
  }
}

/** A value in an error, without what it holds. */
function described(value) {
  if (value === null || value === undefined || typeof value === "boolean" || typeof value === "number") return String(value);
  if (typeof value === "string") return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value);
  return Array.isArray(value) ? "a list" : typeof value === "object" ? "an object" : `a ${typeof value}`;
}

/** Whether one name may have been meant for another: written in another way, or with at most two other letters. */
function isSimilar(name, other) {
  const [one, two] = [plain(name), plain(other)];
  if (one === two) return true;
  if (Math.abs(one.length - two.length) > 2 || one.length < 4) return false;
  let before = Array.from({ length: two.length + 1 }, (_, at) => at);
  for (let row = 1; row <= one.length; row++) {
    const now = [row];
    for (let at = 1; at <= two.length; at++) {
      const replaced = before[at - 1] + (one[row - 1] === two[at - 1] ? 0 : 1);
      now.push(Math.min(replaced, before[at] + 1, now[at - 1] + 1));
    }
    before = now;
  }
  return before[two.length] <= 2;
}

const plain = (name) => name.toLowerCase().replaceAll(/[-_]/g, "");

module.exports = { check };
