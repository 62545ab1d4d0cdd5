// Places in a string, from places in its UTF-8.

/** How many characters there are from one known place to the next. */
const STEP = 1024;

/** The length in UTF-8 of what stands at an index, or 0 for the second half of a pair. */
function width(text, index) {
  const code = text.charCodeAt(index);
  if (code < 0x80) return 1;
  if (code < 0x800) return 2;
  const isPair = code >= 0xd800 && code < 0xdc00 && text.charCodeAt(index + 1) >> 10 === 0x37;
  if (isPair) return 4;
  const isSecond = code >> 10 === 0x37 && text.charCodeAt(index - 1) >> 10 === 0x36;
  return isSecond ? 0 : 3;
}

/** Finds places in a string. */
export class Index {
  #text;
  /** The byte at every `STEP`th index. */
  #bytes;

  constructor(text) {
    this.#text = text;
    this.#bytes = new Float64Array(Math.floor(text.length / STEP) + 1);
    let byte = 0;
    for (let index = 0; index < text.length; index += 1) {
      if (index % STEP === 0) this.#bytes[index / STEP] = byte;
      byte += width(text, index);
    }
    if (text.length % STEP === 0) this.#bytes[text.length / STEP] = byte;
  }

  /** The index in the string of a byte in its UTF-8. */
  at(byte) {
    let low = 0;
    let high = this.#bytes.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (this.#bytes[middle] <= byte) low = middle;
      else high = middle - 1;
    }
    let at = this.#bytes[low];
    let index = low * STEP;
    while (at < byte && index < this.#text.length) {
      at += width(this.#text, index);
      index += 1;
    }
    // Never between the halves of a pair.
    while (index < this.#text.length && width(this.#text, index) === 0) index += 1;
    return index;
  }
}
