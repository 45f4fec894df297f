import test, { type TestContext } from 'node:test';

/**
 * The services that `npm test` starts. Tests learn of them through the environment: `KAFKA_BROKERS` and `REDIS_URL`, or
 * `KAFKA_UNAVAILABLE` and so on with the reason why a service is missing.
 */

type DeployTool = 'nginx' | 'kubectl' | 'kubernetes-validate' | 'image-node' | 'node-22';

/** Clients in other languages than JavaScript, and a schema registry. */
type ClientTool = 'gql-python' | 'genqlient' | 'spring-client' | 'kafka-python' | 'apicurio';

export type Need =
  'kafka' | 'kafka-jars' | 'redis' | 'kcat' | 'chromium' | 'redis-server' | 'curl' | DeployTool | ClientTool;

/** Only `npm test` brings services and tools, by these variables; programs are there unless it says otherwise. */
const VARIABLES: Partial<Record<Need, string>> = {
  kafka: 'KAFKA_BROKERS',
  'kafka-jars': 'KAFKA_JARS',
  redis: 'REDIS_URL',
  nginx: 'NGINX',
  kubectl: 'KUBECTL',
  'kubernetes-validate': 'KUBERNETES_VALIDATE',
  'image-node': 'IMAGE_NODE',
  'node-22': 'NODE_22',
  'gql-python': 'GQL_PYTHON',
  genqlient: 'GENQLIENT',
  'spring-client': 'SPRING_CLIENT',
  'kafka-python': 'KAFKA_PYTHON',
  apicurio: 'APICURIO',
};

/**
 * A test that waits for a service in vain fails, and runs its cleanup, before the whole file is killed. No other test
 * takes this long, even on a busy machine.
 */
const TIMEOUT_MS = 600_000;

/**
 * Options of a test: `test('…', needs('kafka', 'kcat'), async (t) => …)`. Skipping is decided before the test starts,
 * since a test can't end itself by skipping.
 */
export function needs(...wanted: readonly Need[]): { skip: string | false; timeout: number } {
  const reasons = wanted.map(reasonAgainst).filter((reason) => reason !== undefined);
  return { skip: reasons.length > 0 && reasons.join(' '), timeout: TIMEOUT_MS };
}

/** @returns a function that registers tests with the same needs */
export function testNeeding(
  ...wanted: readonly Need[]
): (title: string, run: (t: TestContext) => Promise<void>) => void {
  return (title, run) => void test(title, needs(...wanted), run);
}

/** @returns `host:port,…`; throws unless the test says `needs('kafka')` */
export const kafkaBrokers = (): string => given('kafka');

/** @returns a `redis://` or `rediss://` URL; throws unless the test says `needs('redis')` */
export const redisUrl = (): string => given('redis');

/** The settings of pods that consume a topic together over one Redis. For `needs('kafka', 'redis')`. */
export function podSettings(topic: string, url = redisUrl()) {
  return {
    KAFKA_BROKERS: kafkaBrokers(),
    KAFKA_GROUP_ID: topic,
    REDIS_URL: url,
    REDIS_PREFIX: `${topic}:`,
  };
}

/** @returns the folder with the broker's code; throws unless the test says `needs('kafka-jars')` */
export const kafkaJars = (): string => given('kafka-jars');

/** @returns the program's path; throws unless the test says that it needs the program */
export const deployTool = (tool: DeployTool): string => given(tool);

/** @returns the path of the client's program or folder; throws unless the test says that it needs the client */
export const clientTool = (tool: ClientTool): string => given(tool);

function given(need: Need): string {
  const value = process.env[VARIABLES[need] ?? ''];
  if (!value) throw new Error(`Expected the test to say needs('${need}'): ${reasonAgainst(need)}`);
  return value;
}

function reasonAgainst(need: Need): string | undefined {
  const reason = process.env[`${need.toUpperCase().replaceAll('-', '_')}_UNAVAILABLE`];
  if (reason !== undefined) return reason;
  const variable = VARIABLES[need];
  if (variable === undefined || process.env[variable]) return undefined;
  return `${variable} is not set; npm test brings up what it names.`;
}
