/** Texts of a value, or of a list's elements, to compare as IDs: a number equals its text. Other types have no text. */
export function textsIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.flatMap(textOf) : textOf(value);
}

/** Empty text names no viewer; nor does a fraction, or a number that JavaScript may round to another one. */
function textOf(value: unknown): readonly string[] {
  if (typeof value === 'string') return value === '' ? [] : [value];
  return Number.isSafeInteger(value) ? [String(value)] : [];
}

/** The claim `scope` of OAuth 2.0 (RFC 6749, section 3.3) is a list in one text, separated by spaces. */
export function scopesIn(claim: unknown): readonly string[] {
  return typeof claim === 'string' ? claim.split(' ').filter(Boolean) : textsIn(claim);
}
