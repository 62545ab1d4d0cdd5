// The state of the page in the part of its address that is never sent: deflate, and base64 for addresses.

const VERSION = "1.";
/** What an address may unpack to, so that nobody can freeze the page with one. */
const MOST = 20_000_000;

export async function pack(state) {
  const bytes = new TextEncoder().encode(JSON.stringify(state));
  const packed = await read(new Blob([bytes]).stream().pipeThrough(new CompressionStream("deflate-raw")), Infinity);
  let text = "";
  for (const byte of packed) text += String.fromCharCode(byte);
  return VERSION + btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** What an address holds, or nothing if it holds nothing. */
export async function unpack(fragment) {
  if (fragment === "") return undefined;
  if (!fragment.startsWith(VERSION)) throw new Error("This link is damaged, or of another version of this page");
  try {
    const text = atob(fragment.slice(VERSION.length).replaceAll("-", "+").replaceAll("_", "/"));
    const packed = Uint8Array.from(text, (character) => character.charCodeAt(0));
    const bytes = await read(new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw")), MOST);
    const state = JSON.parse(new TextDecoder().decode(bytes));
    if (typeof state === "object" && state !== null) return state;
  } catch {
    // Said below.
  }
  throw new Error("This link is damaged or cut off");
}

async function read(stream, most) {
  const reader = stream.getReader();
  const pieces = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.length;
    if (length > most) {
      await reader.cancel();
      throw new Error("too large");
    }
    pieces.push(value);
  }
  return new Uint8Array(await new Blob(pieces).arrayBuffer());
}
