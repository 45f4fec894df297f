/* Runs in the browser: puts GraphiQL together from the globals of the scripts before it. */
{
  const { React, ReactDOM, GraphiQL, graphqlWs } = globalThis;
  const example = JSON.parse(document.querySelector('#example').textContent);

  // The page may be served below a path, so the address follows from the page's own.
  const url = new URL('graphql', location.href);
  const webSocketUrl = new URL(url);
  webSocketUrl.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
  webSocketUrl.search = webSocketUrl.hash = url.search = url.hash = '';

  const fetcher = GraphiQL.createFetcher({
    url: url.href,
    wsClient: graphqlWs.createClient({ url: webSocketUrl.href }),
  });

  /**
   * What GraphiQL keeps between visits, apart for each example: tabs of another graph, or of another program that once
   * ran on this port, would otherwise stand where the example belongs.
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

  /** Not for secrets: tells one example from another (FNV-1a). */
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
        defaultQuery: example,
        storage: new Storage(`sluice:${fingerprint(example)}:`),
        defaultEditorToolsVisibility: false,
      },
      React.createElement(GraphiQL.Logo, null, 'Sluice'),
    ),
  );
}
