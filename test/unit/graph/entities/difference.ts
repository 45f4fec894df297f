/** The first place in which two results differ. */
export function difference(one: unknown, other: unknown, path = ''): string {
  if (JSON.stringify(one) === JSON.stringify(other)) return '';
  if (typeof one === 'object' && typeof other === 'object' && one !== null && other !== null) {
    const [mine, theirs] = [Object.entries(one), Object.entries(other)];
    for (const [index, [key, value]] of mine.entries()) {
      const [name, expected] = theirs[index] ?? [];
      const found =
        name === key ? difference(value, expected, `${path}.${key}`) : `${path}: ${key}, not ${name}`;
      if (found !== '') return found;
    }
  }
  return `${path}: ${JSON.stringify(one)}, not ${JSON.stringify(other)}`;
}
