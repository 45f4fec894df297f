/**
 * The layers of src, bottom-up: a folder (or file) imports only from its own layer and those before it in this list.
 * `npm run check` fails on the first import that goes up.
 */
const LAYERS = [
  'support',
  'config|errors|log|metrics|process-metrics',
  'pressure',
  'lazy',
  'tracing',
  'events',
  'formats',
  'graph',
  'ingest',
  'bus',
  'executor',
  'backends',
  'auth',
  'context',
  'hub',
  'transports',
  'explain',
  'server',
  'gateway',
  'testing',
  'workers',
  'cli',
];

const pathOf = (layers) => `^src/(${layers.join('|')})([./]|$)`;

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
    ...LAYERS.slice(0, -1).map((layer, level) => ({
      name: `layer-${layer}`,
      severity: 'error',
      comment: `src/${layer} may import only from its own layer and those below it.`,
      from: { path: pathOf([layer]) },
      to: { path: pathOf(LAYERS.slice(level + 1)) },
    })),
    {
      name: 'transports-are-siblings',
      severity: 'error',
      comment: 'What two transports need is in src/transports/delivery or src/transports/connections.',
      from: { path: '^src/transports/(websocket|http|connections|delivery)/' },
      to: { path: '^src/transports/(websocket|http)/', pathNot: '^src/transports/$1/' },
    },
    {
      name: 'delivery-knows-no-connections',
      severity: 'error',
      from: { path: '^src/transports/delivery/' },
      to: { path: '^src/transports/connections/' },
    },
    {
      name: 'src-stands-alone',
      severity: 'error',
      comment: 'What runs in production imports neither tests, load tests nor scripts.',
      from: { path: '^src/' },
      to: { path: '^(test|loadtest|scripts)/' },
    },
    {
      name: 'client-stands-alone',
      severity: 'error',
      comment: 'src/client runs in browsers of others: it imports neither packages, Node.js nor the gateway.',
      from: { path: '^src/client/' },
      to: { pathNot: '^src/client/' },
    },
    {
      name: 'client-is-not-of-the-gateway',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/client/' },
      to: { path: '^src/client/' },
    },
    {
      name: 'one-seam-for-kafka',
      severity: 'error',
      comment:
        'All else asks src/ingest/kafka/driver.ts, so that another client is one more implementation of it.',
      from: { path: '^src/', pathNot: '^src/ingest/kafka/kafkajs/' },
      to: { path: 'node_modules/kafkajs/' },
    },
    {
      name: 'one-seam-for-the-second-kafka-client',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/ingest/kafka/platformatic/' },
      to: { path: 'node_modules/@platformatic/' },
    },
    {
      name: 'kafka-driver-is-handed-in',
      severity: 'error',
      comment: 'What consumes knows the seam only; src/ingest/ingest.ts chooses the driver.',
      from: { path: '^src/ingest/kafka/[^/]+$' },
      to: { path: '^src/ingest/kafka/(kafkajs|platformatic)/' },
    },
    {
      name: 'no-dev-dependency-in-src',
      severity: 'error',
      comment:
        'Production images hold production dependencies only. Babel is loaded on demand, where it is installed; so are OpenTelemetry and protobufjs.',
      from: { path: '^src/' },
      to: {
        dependencyTypes: ['npm-dev'],
        dependencyTypesNot: ['type-only'],
        pathNot: '@babel/core|@opentelemetry/|protobufjs',
      },
    },
    {
      name: 'resolvable',
      severity: 'error',
      comment: 'src/server/debug/page.ts serves src/explain/ask.ts beside the files of the page.',
      from: {},
      to: { couldNotResolve: true, pathNot: '^sluice(/client|/testing)?$|^[.]/ask[.]js$' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    // What is built may be missing, and is checked as source.
    // Projects of their own, which import types that are written there.
    exclude: { path: '^([.][.]/)?dist/|/fixtures/|^examples/warehouse/|^src/cli/template/' },
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'types', 'node', 'default'],
    },
  },
};
