import type { GraphQLSchema } from 'graphql';
import path from 'node:path';
import { exampleOperations } from '../example-operations.ts';
import { HttpError } from '../http-error.ts';
import { send } from '../respond.ts';
import type { Handle, Route } from '../router.ts';
import { StaticFiles } from '../static-files.ts';

/** The build copies these files from development dependencies, so that production does not need those. */
const VENDOR_FOLDER = path.join(import.meta.dirname, '../../../graphiql');
const VENDOR_FILES = ['react.js', 'react-dom.js', 'graphql-ws.js', 'graphiql.js', 'graphiql.css'];
const OWN_FOLDER = import.meta.dirname;
const OWN_FILES = ['page.js', 'event-stream.js', 'stream-view.js', 'page.css'];

/**
 * Content security policy: only the gateway's own files, and requests to the gateway only. GraphiQL's editors and menus
 * need inline styles.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const ICON =
  "%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Cpath fill='none' stroke='%231f7a8c' stroke-width='2' d='M1 5c3-3 4 3 7 0s4 3 7 0M1 11c3-3 4 3 7 0s4 3 7 0'/%3E%3C/svg%3E";

const NO_EXAMPLES = ['# The schema can not be read here (INTROSPECTION).\n\n{\n  __typename\n}\n'];

/** GraphiQL at `/`, with runnable examples in its tabs. */
export class Graphiql {
  readonly routes: readonly Route[];
  #page: string;

  private constructor(schema: GraphQLSchema | undefined, files: StaticFiles) {
    this.#page = pageOf(examplesOf(schema));
    this.routes = [
      { path: '/', methods: { GET: servePage(() => this.#page) } },
      { path: '/graphiql/', methods: { GET: files.handle } },
    ];
  }

  /**
   * @param schema undefined if not all clients may read it: then the examples show none of its names
   * @throws if the build has not copied GraphiQL's files to their folders
   */
  static async load(schema: GraphQLSchema | undefined): Promise<Graphiql> {
    const files = await StaticFiles.load([
      ...VENDOR_FILES.map((name) => path.join(VENDOR_FOLDER, name)),
      ...OWN_FILES.map((name) => path.join(OWN_FOLDER, name)),
    ]);
    return new Graphiql(schema, files);
  }

  /** Shows examples for this schema from now on. @param schema see `load` */
  show(schema: GraphQLSchema | undefined): void {
    this.#page = pageOf(examplesOf(schema));
  }
}

function examplesOf(schema: GraphQLSchema | undefined): readonly string[] {
  return schema === undefined ? NO_EXAMPLES : exampleOperations(schema);
}

function servePage(page: () => string): Handle {
  return (request, response) => {
    if (!request.headers.accept?.includes('text/html')) {
      throw new HttpError(404, 'expected accept: text/html, for GraphiQL; GraphQL is at /graphql', {
        vary: 'Accept',
      });
    }
    send(response, 200, 'text/html; charset=utf-8', page(), {
      'content-security-policy': POLICY,
      'cache-control': 'no-cache',
      vary: 'Accept',
    });
  };
}

function pageOf(examples: readonly string[]): string {
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Sluice</title>
    <link rel="icon" href="data:image/svg+xml,${ICON}">
    <link rel="stylesheet" href="graphiql/graphiql.css">
    <link rel="stylesheet" href="graphiql/page.css">
  </head>
  <body>
    <div id="graphiql">Loading …</div>
    <script type="application/json" id="examples">${JSON.stringify(examples).replaceAll('<', '\\u003c')}</script>
    ${['react.js', 'react-dom.js', 'graphql-ws.js', 'graphiql.js']
      .map((name) => `<script src="graphiql/${name}"></script>`)
      .join('\n    ')}
    <script type="module" src="graphiql/page.js"></script>
  </body>
</html>
`;
}
