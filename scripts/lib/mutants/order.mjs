/** The order of tests: files that are likely to fail soon come first. */

/** Seconds of the first files that share a process. Each process after it takes on twice as many as the one before. */
const FIRST_GROUP = 3;

/** Marks of costly tests with services: they start brokers and clusters of their own. */
const OWN_SERVERS = /needs\([^)]*'(kafka-jars|redis-server|nginx|image-node)'/;

/**
 * @param {string} file of the mutant, below `src`
 * @param {string[]} names of test files
 * @param {(name: string) => number} secondsOf
 * @returns {string[]} names with the same folders and name first, then names that share words with it, then the fastest
 */
export function nearestFirst(file, names, secondsOf) {
  const wanted = file.replace(/\.ts$/, '').split('/');
  const words = new Set(wordsOf(wanted.join('/')));
  const ranked = names.map((name) => {
    const own = name
      .replace(/\.slow$/, '')
      .split('/')
      .slice(1);
    const other = own.findIndex((part, index) => part !== wanted[index]);
    const depth = other === -1 ? own.length : other;
    const shared = wordsOf(own.join('/')).filter((word) => words.has(word)).length;
    return { name, depth: own.at(-1) === wanted.at(-1) ? Infinity : depth, shared, seconds: secondsOf(name) };
  });
  return ranked
    .toSorted((a, b) => descending(a.depth, b.depth) || b.shared - a.shared || a.seconds - b.seconds)
    .map(({ name }) => name);
}

const wordsOf = (text) => text.split(/[/-]/);

const descending = (a, b) => (a === b ? 0 : b - a);

/**
 * @param {string[]} names
 * @param {(name: string) => number} secondsOf
 * @returns {string[][]} groups of names that share a process, in the same order
 */
export function groups(names, secondsOf) {
  const made = [];
  let limit = FIRST_GROUP;
  let left = 0;
  for (const name of names) {
    if (made.length === 0 || left < secondsOf(name)) {
      if (made.length > 0) limit *= 2;
      made.push([]);
      left = limit;
    }
    made.at(-1).push(name);
    left -= secondsOf(name);
  }
  return made;
}

/**
 * @param {string} code of a test file
 * @returns {number} higher for files whose servers cost more
 */
export function costOf(code) {
  if (OWN_SERVERS.test(code)) return 2;
  return code.includes('needs(') ? 1 : 0;
}
