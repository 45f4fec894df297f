/** In which order tests are tried: those first that are likely to fail soon. */

/** Seconds of the first files that share a process. Each process after it takes on twice as many. */
const FIRST_GROUP = 3;

/** What makes a test with services costly: brokers and clusters of its own. */
const OWN_SERVERS = /needs\([^)]*'(kafka-jars|redis-server|nginx|image-node)'/;

/**
 * @param {string} file of the mutant, below `src`
 * @param {string[]} names of test files
 * @param {(name: string) => number} secondsOf
 * @returns {string[]} those of the same folders and name first, then those with words of them, then the fastest
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
 * @returns {string[][]} in the same order: names that share a process
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
 * @returns {number} the lower, the less it takes to run
 */
export function costOf(code) {
  if (OWN_SERVERS.test(code)) return 2;
  return code.includes('needs(') ? 1 : 0;
}
