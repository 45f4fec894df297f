import type { Explainer } from '../../explain/explainer.ts';
import { shownList } from '../../explain/shown-list.ts';
import { nearest } from '../../support/nearest.ts';
import { HttpError } from '../http-error.ts';
import { numberParameter } from '../number-parameter.ts';
import { sendJson } from '../respond.ts';
import { queryOf, type Handle } from '../router.ts';

/** Above this, a number of JavaScript is not exact. */
const MOST = Number.MAX_SAFE_INTEGER;

/**
 * `/debug/explain?connection=&topic=&partition=&offset=`: why a connection did, or did not, get an event. Without a
 * connection: what this process did with the event before it went to the bus. Without an offset: the last events of the
 * topic, or those with `key=`.
 */
export function explainEvent(explainer: Pick<Explainer, 'explain' | 'last' | 'topics' | 'shows'>): Handle {
  return (request, response) => {
    const query = queryOf(request);
    const text = (name: string): string => {
      const value = query.get(name);
      if (value === null || value === '') throw new HttpError(400, `${name}: expected a text, got nothing`);
      return value;
    };
    const number = (name: string): number => {
      text(name);
      return numberParameter(request, name, { min: 0, max: MOST, default: 0 });
    };
    const id = query.get('connection') ?? undefined;
    const topic = knownTopic(text('topic'), explainer);
    const answer = query.has('offset')
      ? explainer.explain(id, { topic, partition: number('partition'), offset: number('offset') })
      : explainer.last(id, {
          topic,
          partition: query.has('partition') ? number('partition') : undefined,
          key: query.get('key') ?? undefined,
        });
    if (answer === undefined) {
      throw new HttpError(
        404,
        `connection: expected the id of one that is open in this process (/debug/connections), got ${id}`,
      );
    }
    sendJson(response, 200, answer, { 'cache-control': 'no-store' });
  };
}

/** @throws HttpError naming the topics of the graph; the topic that may be meant comes first */
function knownTopic(given: string, explainer: Pick<Explainer, 'topics' | 'shows'>): string {
  if (explainer.shows(given)) return given;
  const { topics } = explainer;
  const meant = nearest(given, topics);
  const others = topics.filter((topic) => topic !== meant).toSorted();
  const names = shownList(meant === undefined ? others : [meant, ...others]);
  const expected =
    topics.length === 0 ? 'a topic of the graph, which has none' : `one of the graph's, ${names}`;
  throw new HttpError(404, `topic: expected ${expected}, got ${JSON.stringify(given)}`);
}
