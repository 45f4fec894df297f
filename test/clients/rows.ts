import path from 'node:path';
import type { TestContext } from 'node:test';
import { clientTool, needs } from '../helpers/services.ts';
import { openReactPage } from './page.ts';
import { Program } from './program.ts';
import { versionIn, versionOf } from './versions.ts';

const HERE = import.meta.dirname;

export type Transport = 'graphql-transport-ws' | 'graphql-ws (legacy)' | 'server-sent events' | 'multipart';

/** What a client is started with. */
export interface Surroundings {
  /** Host and port of the gateway. */
  readonly gateway: string;
  readonly token: string;
}

/** A client by one of its transports. */
export interface Row {
  readonly client: string;
  readonly version: string;
  readonly transport: Transport;
  readonly needs: ReturnType<typeof needs>;
  /** What becomes of a subscription whose pod is drained: the client begins it again, tells its end, or tells nothing. */
  readonly afterDrain: 'begins again' | 'ends' | 'silent end';
  /** What it tells of an operation that the gateway refuses. */
  readonly errors: RegExp;
  start(t: TestContext, surroundings: Surroundings): Program | Promise<Program>;
}

type Kind = Pick<Row, 'client' | 'version' | 'needs'> & {
  start(t: TestContext, surroundings: Surroundings, transport: Transport): Program | Promise<Program>;
};

const environment = ({ gateway, token }: Surroundings, transport: Transport) => ({
  GATEWAY: gateway,
  TOKEN: token,
  TRANSPORT: transport,
});

/** A program of `programs/`. @param packageName as it is installed here */
function javaScript(client: string, packageName: string, program: string, ...args: string[]): Kind {
  return {
    client,
    version: versionOf(packageName),
    needs: needs(),
    start: (t, surroundings, transport) => {
      const file = path.join(HERE, 'programs', `${program}.js`);
      return Program.spawn(t, [process.execPath, file, ...args], environment(surroundings, transport));
    },
  };
}

/** A component of `pages/`, in Chromium, on a page of another origin. */
function react(client: string, packageName: string, page: string): Kind {
  return {
    client,
    version: versionOf(packageName),
    needs: needs('chromium'),
    start: (t, surroundings, transport) => openReactPage(t, page, environment(surroundings, transport)),
  };
}

/** A program in another language. */
function foreign(
  client: string,
  tool: Parameters<typeof clientTool>[0],
  version: string,
  command: () => [string, ...string[]],
): Kind {
  return {
    client,
    version,
    needs: needs(tool),
    start: (t, surroundings, transport) => Program.spawn(t, command(), environment(surroundings, transport)),
  };
}

const PYTHON = foreign(
  'gql (Python)',
  'gql-python',
  versionIn('python/requirements.txt', /^gql\S*==(\S+)/m),
  () => [clientTool('gql-python'), '-u', path.join(HERE, 'python/client.py')],
);

const GO = foreign('genqlient (Go)', 'genqlient', versionIn('go/go.mod', /genqlient v(\S+)/), () => [
  clientTool('genqlient'),
]);

const SPRING = foreign(
  'Spring for GraphQL (Java)',
  'spring-client',
  versionIn('spring/pom.xml', /<artifactId>spring-graphql<\/artifactId>\s*<version>(\S+)<\/version>/),
  () => {
    const [classes, libraries] = ['classes', 'lib/*'].map((at) => path.join(clientTool('spring-client'), at));
    return ['java', '-XX:TieredStopAtLevel=1', '-cp', `${classes}${path.delimiter}${libraries}`, 'Client'];
  },
);

/** The gateway's words. */
export const IN_FULL = /Cannot query field .*nothing/;

/** The adapters of Apollo Client for urql and Relay read multipart only, though it asks for JSON too. */
const WITHOUT_REASON = /Expected multipart response/;

const row = (
  { start, ...kind }: Kind,
  transport: Transport,
  { afterDrain = 'begins again', errors = IN_FULL }: Partial<Pick<Row, 'afterDrain' | 'errors'>> = {},
): Row => ({
  ...kind,
  transport,
  afterDrain,
  errors,
  start: (t, surroundings) => start(t, surroundings, transport),
});

const APOLLO_4 = javaScript('Apollo Client', '@apollo/client', 'apollo-client', '4');
const APOLLO_3 = javaScript('Apollo Client', 'apollo-client-3', 'apollo-client', '3');
const URQL = javaScript('urql', '@urql/core', 'urql');
const RELAY = javaScript('Relay', 'relay-runtime', 'relay');
const REACT_APOLLO = react('Apollo Client in React, Chromium', '@apollo/client', 'apollo-client');
const REACT_URQL = react('urql in React, Chromium', 'urql', 'urql');

const ENDS = { afterDrain: 'ends' } as const;

/** Each client by each transport that it speaks. */
export const ROWS: readonly Row[] = [
  row(javaScript('graphql-ws', 'graphql-ws', 'graphql-ws', '6'), 'graphql-transport-ws'),
  row(javaScript('graphql-ws', 'graphql-ws-5', 'graphql-ws', '5'), 'graphql-transport-ws'),
  row(javaScript('graphql-sse', 'graphql-sse', 'graphql-sse'), 'server-sent events'),
  row(
    javaScript('subscriptions-transport-ws', 'subscriptions-transport-ws', 'subscriptions-transport-ws'),
    'graphql-ws (legacy)',
  ),
  row(APOLLO_4, 'graphql-transport-ws'),
  row(APOLLO_4, 'multipart', ENDS),
  row(APOLLO_3, 'graphql-transport-ws'),
  row(APOLLO_3, 'multipart', ENDS),
  row(APOLLO_3, 'graphql-ws (legacy)'),
  row(URQL, 'graphql-transport-ws'),
  row(URQL, 'server-sent events', ENDS),
  row(URQL, 'multipart', { ...ENDS, errors: WITHOUT_REASON }),
  row(RELAY, 'graphql-transport-ws'),
  row(RELAY, 'multipart', { ...ENDS, errors: WITHOUT_REASON }),
  row(REACT_APOLLO, 'graphql-transport-ws'),
  row(REACT_APOLLO, 'multipart', ENDS),
  row(REACT_URQL, 'graphql-transport-ws'),
  row(REACT_URQL, 'server-sent events', { afterDrain: 'silent end' }),
  row(PYTHON, 'graphql-transport-ws', ENDS),
  row(PYTHON, 'graphql-ws (legacy)', ENDS),
  row(GO, 'graphql-transport-ws', ENDS),
  row(SPRING, 'graphql-transport-ws', ENDS),
];
