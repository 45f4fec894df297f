import { eventsRoute, noEventsRoute, type EventsOptions } from './events-route.ts';
import type { Graphiql } from './graphiql/graphiql.ts';
import { graphqlRoute, type GraphqlOptions } from './graphql-route.ts';
import type { Route } from './router.ts';

export interface PublicOptions extends GraphqlOptions {
  /** Undefined if the setting `GRAPHIQL` is false. */
  readonly graphiql: Graphiql | undefined;
  /** Undefined if events come from Kafka or from other pods. */
  readonly events: EventsOptions | undefined;
}

/** The HTTP routes of `PORT`; see Upgrade for WebSockets. */
export function publicRoutes(options: PublicOptions): Route[] {
  const { graphiql, events, originCheck, maxPayloadBytes } = options;
  const routes = [graphqlRoute(options)];
  if (graphiql !== undefined) routes.push(...graphiql.routes);
  routes.push(events === undefined ? noEventsRoute : eventsRoute(events, originCheck, maxPayloadBytes));
  return routes;
}
