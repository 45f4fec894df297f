/* Runs in the browser: renders GraphiQL from the globals that the scripts before this one define. */
import { EventStream } from './event-stream.js';
import { streamView } from './stream-view.js';

const { React, ReactDOM, GraphiQL, graphqlWs } = globalThis;
const examples = JSON.parse(document.querySelector('#examples').textContent);

// A proxy may serve the page below a path, so the endpoint's URL is relative to the page's.
const url = new URL('graphql', location.href);
const webSocketUrl = new URL(url);
webSocketUrl.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
webSocketUrl.search = webSocketUrl.hash = url.search = url.hash = '';

const post = GraphiQL.createFetcher({ url: url.href, fetch: fetchJson });
const stream = new EventStream({
  createClient: graphqlWs.createClient,
  url: webSocketUrl.href,
  now: Date.now,
  nextFrame: (draw) => requestAnimationFrame(draw),
});

/** The contents of the Headers tab are sent as headers with requests, and as connection parameters with WebSockets. */
function fetcher(operation, options) {
  if (isSubscription(options?.documentAST, operation.operationName)) {
    return stream.start(operation, options.headers);
  }
  if (options?.documentAST !== undefined) stream.clear();
  return post(operation, options);
}

/** @param document undefined if it can't be parsed, and for introspection */
function isSubscription(document, operationName) {
  return document?.definitions.some(
    ({ operation, name }) =>
      operation === 'subscription' && (operationName == null || name?.value === operationName),
  );
}

/** GraphiQL expects JSON in all responses. Any other, for example of a proxy, becomes an error that describes it. */
async function fetchJson(...request) {
  const response = await fetch(...request);
  const type = response.headers.get('content-type') ?? 'no content type';
  if (/json|multipart\/mixed/.test(type)) return response;
  const got = `${response.status} ${response.statusText}`.trim();
  return Response.json({ errors: [{ message: `Expected JSON from ${url.href}, got ${got}, ${type}` }] });
}

/**
 * GraphiQL's storage between visits, with a prefix for each set of examples: otherwise GraphiQL would restore the tabs
 * of another graph, or of another program that ran on this port, instead of showing the examples.
 */
class Storage {
  #prefix;

  constructor(prefix) {
    this.#prefix = prefix;
  }

  get length() {
    return this.#keys().length;
  }

  getItem(key) {
    return localStorage.getItem(this.#prefix + key);
  }

  setItem(key, value) {
    localStorage.setItem(this.#prefix + key, value);
  }

  removeItem(key) {
    localStorage.removeItem(this.#prefix + key);
  }

  clear() {
    for (const key of this.#keys()) localStorage.removeItem(key);
  }

  #keys() {
    return Object.keys(localStorage).filter((key) => key.startsWith(this.#prefix));
  }
}

/** A hash that distinguishes examples (FNV-1a, not cryptographic). */
function fingerprint(text) {
  let hash = 0x811c9dc5;
  for (const character of text) hash = Math.imul(hash ^ character.codePointAt(0), 0x01000193);
  return (hash >>> 0).toString(36);
}

/** Wraps lines: GraphiQL's editors cut off long ones, such as tokens, or the examples on a phone. */
function LineWrapping() {
  const { queryEditor, variableEditor, headerEditor } = GraphiQL.React.useEditorContext({ nonNull: true });
  const editors = [queryEditor, variableEditor, headerEditor];
  React.useEffect(() => {
    for (const editor of editors) editor?.setOption('lineWrapping', true);
  }, editors);
  return null;
}

ReactDOM.createRoot(document.querySelector('#graphiql')).render(
  React.createElement(
    GraphiQL,
    {
      fetcher,
      defaultQuery: examples[0],
      defaultTabs: examples.map((query) => ({ query })),
      storage: new Storage(`sluice:${fingerprint(examples.join())}:`),
      defaultEditorToolsVisibility: false,
    },
    React.createElement(GraphiQL.Logo, null, 'Sluice'),
    React.createElement(LineWrapping),
    React.createElement(GraphiQL.Footer, null, React.createElement(streamView({ React, GraphiQL }, stream))),
  ),
);
