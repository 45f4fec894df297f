import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { openPage } from '../helpers/chromium.ts';
import { serveHttp } from '../helpers/local-server.ts';
import { testNeeding } from '../helpers/services.ts';
import { SECRET, signToken } from '../helpers/tokens.ts';
import { upTo } from '../helpers/numbers.ts';
import { startGraph } from './graph-gateway.ts';

const test = testNeeding('chromium');

const MODULES = path.join(import.meta.dirname, '../../../node_modules');

const SCRIPTS = [
  'react/umd/react.production.min.js',
  'react-dom/umd/react-dom.production.min.js',
  'graphql-ws/umd/graphql-ws.js',
];

const TOKEN_SECONDS = 5;
/** The first one, and those that refresh it. */
const TOKENS = 4;
const EVERY_MS = 100;

const SCHEMA = 'type Subscription { bid: Bid @event(topic: "bids") } type Bid { n: Int }';

/** The page of docs/guides/authentication.md, in React; with `?lazy` it never sends a fresh token. */
const APP = `
  const refreshes = !location.search.includes('lazy');
  const gateway = new URLSearchParams(location.search).get('gateway');
  const freshToken = () => fetch('/token').then((response) => response.text());
  let socket;
  const client = graphqlWs.createClient({
    url: gateway,
    retryAttempts: 0,
    connectionParams: async () => ({ token: await freshToken() }),
    on: {
      opened: (opened) => (socket = opened),
      ping: async (received, payload) => {
        if (!received || !payload?.auth || !refreshes) return;
        const token = await freshToken();
        socket.send(JSON.stringify({ type: 'pong', payload: { auth: { token } } }));
      },
    },
  });
  function App() {
    const [seen, setSeen] = React.useState([]);
    const [end, setEnd] = React.useState('');
    React.useEffect(
      () =>
        client.subscribe(
          { query: 'subscription { bid { n } }' },
          {
            next: ({ data }) => setSeen((before) => [...before, data.bid.n]),
            error: ({ code, reason }) => setEnd(code + ' ' + reason),
            complete: () => setEnd('complete'),
          },
        ),
      [],
    );
    return React.createElement(
      'main',
      null,
      React.createElement('p', { id: 'seen' }, seen.join(' ')),
      React.createElement('p', { id: 'end' }, end),
    );
  }
  ReactDOM.createRoot(document.getElementById('root')).render(React.createElement(App));
`;

const HTML = `<!doctype html><div id="root"></div>${SCRIPTS.map((name) => `<script src="/${name}"></script>`).join('')}<script>${APP}</script>`;

/** An application's own server: its page, and fresh tokens for its users. */
async function startApplication(t: TestContext, tokenSeconds: number) {
  let tokens = 0;
  const origin = await serveHttp(t, (request, response) => {
    const name = (request.url ?? '/').slice(1);
    if (name === 'token') {
      tokens += 1;
      void signToken({ sub: 'ann' }, tokenSeconds).then((token) => response.end(token));
    } else if (SCRIPTS.includes(name)) {
      void readFile(path.join(MODULES, name)).then((script) => response.end(script));
    } else {
      response.setHeader('content-type', 'text/html').end(HTML);
    }
  });
  return { origin, tokens: () => tokens };
}

interface OpenOptions {
  readonly search?: string;
  readonly tokenSeconds?: number;
  readonly toleranceSeconds: number;
}

async function open(
  t: TestContext,
  { search = '', tokenSeconds = TOKEN_SECONDS, toleranceSeconds }: OpenOptions,
) {
  const { origin, tokens } = await startApplication(t, tokenSeconds);
  const gateway = await startGraph(
    t,
    { 'schema.graphql': SCHEMA },
    {
      AUTH_SECRET: SECRET,
      AUTH_CLOCK_TOLERANCE_SECONDS: String(toleranceSeconds),
      AUTH_GRACE_SECONDS: '1',
      ORIGINS: origin,
    },
  );
  const page = await openPage(t);
  await page.goto(`${origin}/?gateway=${encodeURIComponent(gateway.graphqlUrl)}${search}`);
  return { page, gateway, tokens };
}

test('a React page whose token expires after 5 s and is refreshed in-band loses no event through three of them, on one socket', async (t) => {
  // Tokens may have expired when they come from a machine that stood still.
  const { page, gateway, tokens } = await open(t, { toleranceSeconds: 300 });
  await gateway.untilMetric('sluice_subscribers', 1);
  let n = 0;
  while (tokens() < TOKENS) {
    n += 1;
    await gateway.postEvent('bids', { n });
    await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
  }
  const expected = upTo(n).join(' ');
  await page
    .locator('#seen')
    .filter({ hasText: new RegExp(` ${n}$`) })
    .waitFor();
  assert.equal(await page.textContent('#seen'), expected);
  assert.equal(await page.textContent('#end'), '');
  // Counted when the gateway answers: one connection, of which none was closed.
  assert.equal(await gateway.metric('sluice_connections'), 1);
  assert.equal(await gateway.metric('sluice_closes_total'), 0);
});

test('a React page that does not refresh its token is closed with 4403, and can show why', async (t) => {
  // On a machine that stands still a token may expire before it has come to the gateway.
  for (let tokenSeconds = TOKEN_SECONDS; tokenSeconds < 100; tokenSeconds *= 2) {
    const { page } = await open(t, { search: '&lazy', tokenSeconds, toleranceSeconds: 0 });
    const end = page.locator('#end').filter({ hasText: '4403' });
    await end.waitFor();
    const text = (await end.textContent()) ?? '';
    if (text === '4403 The token has expired') continue;
    assert.match(text, /^4403 The token expired at \S+, and no fresh one came$/);
    return;
  }
  assert.fail('expected to be let in with a token that expires in minutes');
});
