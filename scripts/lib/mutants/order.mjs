/** In which order tests are tried: those first that are likely to fail soon. */

/** Seconds of the first files that share a process. Each process after it takes on twice as many. */
const FIRST_GROUP = 3;

/** What makes a test with services costly: brokers and clusters of its own. */
const OWN_SERVERS = /needs\([^)]*'(kafka-jars|redis-server|nginx|image-node)'/;

/**
 * @param {string} file of the mutant, below `src`
 * @param {string[]} names of test files
 * @param {(name: string) => number} secondsOf
 * @returns {string[]} those of the same name and folders first, of these the fastest
 */
export function nearestFirst(file, names, secondsOf) {
  const wanted = file.replace(/\.ts$/, '').split('/');
  const nearness = (name) => {
    const parts = name.replace(/\.slow$/, '').split('/');
    const own = parts.slice(1);
    const common = own.findIndex((part, index) => part !== wanted[index]);
    const depth = common === -1 ? own.length : common;
    return depth + (parts.at(-1) === wanted.at(-1) ? wanted.length : 0);
  };
  return names.toSorted((a, b) => nearness(b) - nearness(a) || secondsOf(a) - secondsOf(b));
}

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
