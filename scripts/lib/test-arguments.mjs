/** The arguments of `npm test -- …`, for the process that starts services and the one that runs tests. */

/** Node's test runner takes these patterns as options of its function, and not from the command line. */
const NAME_PATTERN = '--test-name-pattern=';
const ONLY = '--test-only';

const TIERS = { '--slow': 'slow', '--all': 'all' };

/**
 * @param {string[]} args
 * @returns {{ selection: string[], tier: import('./test-files.mjs').Tier, namePatterns: string[], only: boolean,
 *   nodeFlags: string[] }} `nodeFlags`: for the processes of the tests
 */
export function readTestArguments(args) {
  const flags = args.filter((arg) => arg.startsWith('-') && arg !== '--');
  const own = (flag) => flag in TIERS || flag === ONLY || flag.startsWith(NAME_PATTERN);
  const tierFlag = flags.find((flag) => flag in TIERS);
  return {
    selection: args.filter((arg) => !arg.startsWith('-')),
    tier: tierFlag === undefined ? 'fast' : TIERS[tierFlag],
    namePatterns: flags
      .filter((flag) => flag.startsWith(NAME_PATTERN))
      .map((flag) => flag.slice(NAME_PATTERN.length)),
    only: flags.includes(ONLY),
    nodeFlags: flags.filter((flag) => !own(flag)),
  };
}
