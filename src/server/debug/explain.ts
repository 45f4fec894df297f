import type { Explainer } from '../../explain/explainer.ts';
import { HttpError } from '../http-error.ts';
import { numberParameter } from '../number-parameter.ts';
import { sendJson } from '../respond.ts';
import { queryOf, type Handle } from '../router.ts';

/** Above which a number of JavaScript is not exact. */
const MOST = Number.MAX_SAFE_INTEGER;

/**
 * `/debug/explain?connection=&topic=&partition=&offset=`: why a connection did, or did not, get an event. Without a
 * connection, what this process has done with the event before it went to the bus. Without an offset, which are the last
 * events of the topic, of `key=` if there is one.
 */
export function explainEvent(explainer: Pick<Explainer, 'explain' | 'last'>): Handle {
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
    const topic = text('topic');
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
