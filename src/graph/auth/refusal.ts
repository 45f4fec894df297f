import { GraphQLError } from 'graphql';
import type { RecordedViewer } from '../../lazy/recorded-viewer.ts';
import { isAuthenticated } from './evidence.ts';

/** A viewer may not use a field. The message does not tell the client what the rules ask for. */
export class AccessError extends GraphQLError {}

/** @param coordinate `Type.field` */
export function refusal(coordinate: string, viewer: RecordedViewer): AccessError {
  if (!isAuthenticated(viewer)) {
    return new AccessError(`${coordinate} needs a viewer who has authenticated.`, {
      extensions: { code: 'UNAUTHENTICATED' },
    });
  }
  return new AccessError(`The viewer may not use ${coordinate}.`, { extensions: { code: 'FORBIDDEN' } });
}
