const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPENING: ReadonlySet<number> = new Set(Buffer.from('[{'));
const CLOSING: ReadonlySet<number> = new Set(Buffer.from(']}'));

/** Values that are nested deeper overflow the stack of code that serialises or walks them. */
export const MAX_NESTING = 500;

/** Whether lists and objects of a JSON text, which may be malformed, are nested more than `most` levels deep. */
export function isNestedDeeper(json: Buffer, most: number): boolean {
  // Each level takes at least a byte, and most texts are shorter.
  if (json.length <= most) return false;
  let depth = 0;
  let isText = false;
  for (let at = 0; at < json.length; at += 1) {
    const byte = json[at] ?? 0;
    if (isText) {
      if (byte === BACKSLASH) at += 1;
      else if (byte === QUOTE) isText = false;
    } else if (byte === QUOTE) {
      isText = true;
    } else if (OPENING.has(byte)) {
      depth += 1;
      if (depth > most) return true;
    } else if (CLOSING.has(byte)) {
      depth -= 1;
    }
  }
  return false;
}
