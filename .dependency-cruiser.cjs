/**
 * The floors: a folder (or file) of src imports only from those above it in this list, never the other way.
 * `yarn check` fails on the first import that goes down.
 */
const FLOORS = [
  'config|config-types|errors|log|loop-utilization|metrics',
  'lazy',
  'graph',
  'ingest',
  'bus',
  'executor',
  'context',
  'hub',
  'transports',
  'server',
  'gateway',
  'workers',
  'cli',
];

const pathOf = (floors) => `^src/(${floors.join('|')})([./]|$)`;

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    {
      name: 'no-circles',
      severity: 'error',
      comment: 'Two files that need each other are one file, or lack a third.',
      from: {},
      to: { circular: true },
    },
    ...FLOORS.slice(0, -1).map((floor, level) => ({
      name: `floor-${floor}`,
      severity: 'error',
      comment: `src/${floor} may import only from the floors above it.`,
      from: { path: pathOf([floor]) },
      to: { path: pathOf(FLOORS.slice(level + 1)) },
    })),
    {
      name: 'src-stands-alone',
      severity: 'error',
      comment: 'What runs in production imports neither tests, load tests nor scripts.',
      from: { path: '^src/' },
      to: { path: '^(test|loadtest|scripts)/' },
    },
    {
      name: 'no-dev-dependency-in-src',
      severity: 'error',
      comment:
        'Production images hold production dependencies only. Babel is loaded on demand, where it is installed.',
      from: { path: '^src/' },
      to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'], pathNot: '@babel/core' },
    },
    {
      name: 'resolvable',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true, pathNot: '^sluice$' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    // What is built may be missing, and is checked as source.
    exclude: { path: '^([.][.]/)?dist/|/fixtures/' },
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'types', 'node', 'default'],
    },
  },
};
