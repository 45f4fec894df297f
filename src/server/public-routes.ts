import { eventsRoute, type EventsOptions } from './events-route.ts';
import type { Graphiql } from './graphiql.ts';
import { graphqlRoute, type GraphqlOptions } from './graphql-route.ts';
import type { Route } from './router.ts';

export interface PublicOptions extends GraphqlOptions {
  /** Undefined: `GRAPHIQL` is off. */
  readonly graphiql: Graphiql | undefined;
  /** Undefined in modes whose events come from elsewhere. */
  readonly events: EventsOptions | undefined;
}

/** What `PORT` answers, WebSockets aside. */
export function publicRoutes(options: PublicOptions): Route[] {
  const { graphiql, events, originCheck, maxPayloadBytes } = options;
  const routes = [graphqlRoute(options)];
  if (graphiql !== undefined) routes.push(...graphiql.routes);
  if (events !== undefined) routes.push(eventsRoute(events, originCheck, maxPayloadBytes));
  return routes;
}
