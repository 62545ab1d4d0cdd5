// Bodies as the bytes that would be sent.
// `toolcheck` and `toolcheck-wasm` have the same file, as a script and as a module.

/** What `JSON.stringify` makes `{}` of, although something is in it, and what to give instead. */
const NO_BODIES = [
  ["Promise", "`await` it"],
  ["Response", "give `await response.json()`"],
  ["Request", "give `await request.json()`"],
  ["Blob", "give `await blob.arrayBuffer()`"],
  ["ReadableStream", "give `await new Response(stream).arrayBuffer()`"],
  ["FormData", "toolcheck reads JSON"],
  ["URLSearchParams", "toolcheck reads JSON"],
  ["Map", "give `Object.fromEntries(map)`"],
  ["Set", "give `[...set]`"],
];

/** What a value is, and what to give instead, if `JSON.stringify` would write `{}` for it. */
function noBody(value) {
  // Most are plain, and quickly told.
  const made = Object.getPrototypeOf(value);
  if (made === Object.prototype || made === Array.prototype || typeof value.toJSON === "function") return undefined;
  return NO_BODIES.find(([type]) => globalThis[type] !== undefined && value instanceof globalThis[type]);
}

/** A body as bytes. `name` is what errors call it. */
export function bytesOf(body, name) {
  if (typeof body === "string") return encode(body);
  if (body instanceof Uint8Array) return body;
  if (body instanceof ArrayBuffer) return new Uint8Array(body);
  if (ArrayBuffer.isView(body)) return new Uint8Array(body.buffer, body.byteOffset, body.byteLength);
  if (typeof body !== "object" || body === null) {
    const kind = body === null || body === undefined ? String(body) : `a ${typeof body}`;
    throw new TypeError(`the ${name} ${name === "tools" ? "are" : "is"} ${kind}: give a string, bytes or an object`);
  }
  const no = noBody(body);
  if (no) throw new TypeError(`the ${name} ${name === "tools" ? "are" : "is"} a ${no[0]}, not what is in it: ${no[1]}`);
  let text;
  let isEmptied = false;
  try {
    // On several lines, so that the lines of findings are of use.
    text = JSON.stringify(
      body,
      (_, value) => {
        isEmptied ||= typeof value === "object" && value !== null && noBody(value) !== undefined;
        return value;
      },
      2,
    );
  } catch (error) {
    const path = fault(body);
    throw path ? new TypeError(`${name}${path}`, { cause: error }) : error;
  }
  if (isEmptied) throw new TypeError(`${name}${fault(body)}`);
  if (text === undefined) throw new TypeError(`the ${name} can't be written as JSON`);
  return new TextEncoder().encode(text);
}

const LONE_SURROGATE = /\p{Surrogate}/u;

/** A string in UTF-8. Half of a character has none, and is written as if it had, so that it is found. */
function encode(text) {
  if (!LONE_SURROGATE.test(text)) return new TextEncoder().encode(text);
  const bytes = new Uint8Array(3 * text.length);
  const encoder = new TextEncoder();
  let at = 0;
  let from = 0;
  for (const { 0: half, index } of text.matchAll(/\p{Surrogate}/gu)) {
    at += encoder.encodeInto(text.slice(from, index), bytes.subarray(at)).written;
    const code = half.charCodeAt(0);
    bytes.set([0xe0 | (code >> 12), 0x80 | ((code >> 6) & 0x3f), 0x80 | (code & 0x3f)], at);
    at += 3;
    from = index + 1;
  }
  at += encoder.encodeInto(text.slice(from), bytes.subarray(at)).written;
  return bytes.slice(0, at);
}

/** The string of which `encode` makes these bytes. */
export function textOf(bytes) {
  // A `TextDecoder` makes three replacements of half of a character.
  const pieces = [];
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  let from = 0;
  for (let at = bytes.indexOf(0xed); at >= 0; at = bytes.indexOf(0xed, at + 1)) {
    if (at < from || !(bytes[at + 1] >= 0xa0 && bytes[at + 1] <= 0xbf && bytes[at + 2] >> 6 === 2)) continue;
    const half = String.fromCharCode(0xd000 | ((bytes[at + 1] & 0x3f) << 6) | (bytes[at + 2] & 0x3f));
    pieces.push(decoder.decode(bytes.subarray(from, at)), half);
    from = at + 3;
  }
  pieces.push(decoder.decode(bytes.subarray(from)));
  return pieces.join("");
}

/**
 * Why `JSON.stringify` can't write a value, or writes nothing of what is in it: the path of the first BigInt or cycle, or of the
 * first promise, map or the like, and what it is.
 */
function fault(root) {
  // A stack of its own: a value may be deeper than the one of the engine.
  const open = new Set();
  const steps = [{ value: root, path: "" }];
  while (steps.length) {
    const { value, path, leaves } = steps.pop();
    if (leaves) {
      open.delete(value);
      continue;
    }
    const shown = typeof value?.toJSON === "function" ? value.toJSON() : value;
    if (typeof shown === "bigint") return `${path} is a BigInt, which JSON can't represent`;
    if (typeof shown !== "object" || shown === null) continue;
    const no = noBody(shown);
    if (no) return `${path} is a ${no[0]}, not what is in it: ${no[1]}`;
    if (open.has(shown)) return `${path} contains itself`;
    open.add(shown);
    steps.push({ value: shown, leaves: true });
    const keys = Object.keys(shown).reverse();
    for (const key of keys) {
      const step = Array.isArray(shown) ? `[${key}]` : /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
      steps.push({ value: shown[key], path: path + step });
    }
  }
  return undefined;
}
