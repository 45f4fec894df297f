/** The control characters that JSON does not escape: text from outside must not be able to control a terminal. */
const CONTROL = /[\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

/** Text as JSON, in quotes and on one line. */
export function quoted(text: string): string {
  return JSON.stringify(text).replaceAll(
    CONTROL,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Text without quotes, on one line. */
export function harmless(text: string): string {
  return quoted(text).slice(1, -1).replaceAll('\\"', '"').replaceAll('\\\\', '\\');
}
