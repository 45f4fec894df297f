/* Runs in the browser: renders GraphiQL from the globals that the scripts before this one define. */
{
  const { React, ReactDOM, GraphiQL, graphqlWs } = globalThis;
  const examples = JSON.parse(document.querySelector('#examples').textContent);

  // A proxy may serve the page below a path, so the endpoint's URL is relative to the page's.
  const url = new URL('graphql', location.href);
  const webSocketUrl = new URL(url);
  webSocketUrl.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
  webSocketUrl.search = webSocketUrl.hash = url.search = url.hash = '';

  const fetcher = GraphiQL.createFetcher({
    url: url.href,
    wsClient: graphqlWs.createClient({ url: webSocketUrl.href }),
  });

  /**
   * GraphiQL's storage between visits, with a prefix for each set of examples: otherwise GraphiQL would restore the tabs of
   * another graph, or of another program that ran on this port, instead of showing the examples.
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
    ),
  );
}
