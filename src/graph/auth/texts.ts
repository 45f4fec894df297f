/** A value, or the elements of a list, as IDs are compared: a number equals its text. Others have no text. */
export function textsIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.flatMap(textOf) : textOf(value);
}

/** Empty text names no viewer; nor does a number too large for JavaScript, of which several would be equal. */
function textOf(value: unknown): readonly string[] {
  if (typeof value === 'string') return value === '' ? [] : [value];
  return Number.isSafeInteger(value) ? [String(value)] : [];
}

/** The claim `scope` of OAuth 2.0 (RFC 6749, section 3.3) is a list in one text, separated by spaces. */
export function scopesIn(claim: unknown): readonly string[] {
  return typeof claim === 'string' ? claim.split(' ').filter(Boolean) : textsIn(claim);
}
