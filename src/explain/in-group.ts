import type { TracedFetch } from '../events/trace.ts';
import type { SlowPolicy } from '../graph/graph.ts';
import type { DeliveryRecord, GroupRecord } from './event-record.ts';
import type { Explained, ExplainedStep, Verdict } from './explanation.ts';
import { shownList } from './shown-list.ts';

interface Plan {
  /** With `sharing: NEVER` each subscriber is executed for alone. */
  readonly shares: boolean;
  readonly delivery?: { readonly onSlow: SlowPolicy } | undefined;
}

const step = (name: string, text: string): ExplainedStep => ({ step: name, text });
const timeOf = (ms: number): string => new Date(ms).toISOString();

/** Explains what became of an event in a subscription's group. @param isSlow whether the connection is slow now */
export function inGroup(plan: Plan, group: GroupRecord, isSlow: boolean): Explained {
  const { state, passes, comparisons, isSkipped, supersededBy, settled, delivery, errors, fetches } = group;
  // The event may have been dispatched for other subscribers, to whom the filter did not let the later event through.
  if (supersededBy !== undefined && (state === 'held' || !passes)) {
    const { topic, partition, offset } = supersededBy;
    const text = `${topic} ${partition}/${offset} came before throttleMs were over, and took its place`;
    return { verdict: 'superseded', steps: [step('throttle', text)] };
  }
  if (state === 'held') {
    return { verdict: 'held by a throttle', steps: [step('throttle', 'a later event may take its place')] };
  }
  const { directive = '@filter', compared = [] } = comparisons ?? {};
  const lets = passes
    ? 'the event is let through for this viewer'
    : `${directive} keeps it back from this viewer`;
  const filter = compared.length === 0 ? [] : [{ ...step('filter', lets), compared }];
  if (!passes) return { verdict: directive === '@auth' ? 'unauthorised' : 'filtered out', steps: filter };
  const steps = [...filter, ...dispatched(group), ...fetches.flatMap(fetched)];
  if (isSkipped) {
    const text = 'MAX_WAITING_EVENTS of this subscription waited for their executions already';
    return { verdict: 'skipped at MAX_WAITING_EVENTS', steps: [...steps, step('skip', text)] };
  }
  if (settled === undefined) return { verdict: 'under way', steps };
  steps.push(step('share', sharing(plan, group, settled)));
  steps.push(...errors.map((error) => step('error', error)));
  if (delivery === undefined) {
    const text = 'its result waits for those of earlier events';
    return { verdict: 'under way', steps: [...steps, step('order', text)] };
  }
  const { verdict, steps: written } = delivered(plan, delivery, isSlow);
  const isFaulty = verdict === 'delivered' && errors.length > 0;
  return { verdict: isFaulty ? 'executed with an error' : verdict, steps: [...steps, ...written] };
}

function dispatched({ subscribers, passing, executions, splits }: GroupRecord): ExplainedStep[] {
  const all = subscribers === 1 ? '1 subscriber' : `${subscribers} subscribers`;
  const some = passing === subscribers ? '' : `, ${passing} of which it is for`;
  const times = executions === 1 ? '1 execution' : `${executions} executions`;
  const split = splits.size === 0 ? '' : `, as viewers differ in ${shownPaths([...splits])}`;
  return [step('execute', `its group has ${all}${some}; ${times} so far${split}`)];
}

function fetched({ backend, fields, ms, failed }: TracedFetch): ExplainedStep[] {
  const asked = fields === 1 ? '1 field' : `${fields} fields`;
  const text = `${backend} was asked for ${asked} of entities, and answered after ${Math.round(ms)} ms`;
  return [step('fetch', text), ...failed.map((entity) => step('fetch', `${backend} failed for ${entity}`))];
}

function sharing(
  { shares }: Plan,
  { passing, executions }: GroupRecord,
  { sharedBy, reads }: NonNullable<GroupRecord['settled']>,
): string {
  if (!shares) return 'executed for this subscription alone, by sharing: NEVER';
  const others = sharedBy - 1;
  if (executions === 0) return `its result was kept from before, for ${passing}`;
  const agree = reads.length === 0 ? 'nothing was read of viewers' : `viewers agree on: ${shownPaths(reads)}`;
  if (others > 0) {
    const whose = reads.length === 0 ? `: ${agree}` : ` whose ${agree}`;
    return `its result is shared with ${others} of ${passing - 1} other subscribers${whose}`;
  }
  if (passing === 1) return 'executed for this subscription alone: the event is for no other one';
  return `executed for this subscription alone: no other viewer has the same ${shownPaths(reads)}`;
}

/** Shows names only: the viewer's values there may be secret. */
function shownPaths(paths: readonly string[]): string {
  return shownList(paths.map((path) => (path === '*' ? 'viewer' : `viewer.${path}`)));
}

function delivered(
  { delivery: policy }: Plan,
  { at, bytesAhead, writtenAt, bytesInSocket, leftOutAt }: DeliveryRecord,
  isSlow: boolean,
): { readonly verdict: Verdict; readonly steps: readonly ExplainedStep[] } {
  const behind = bytesAhead === 0 ? '' : `, behind ${bytesAhead} bytes that waited for the client`;
  const handed = step('hand over', `handed to the connection at ${timeOf(at)}${behind}`);
  if (leftOutAt !== undefined) {
    const text = `left out at ${timeOf(leftOutAt)} by onSlow: ${policy?.onSlow}, as a later result took its place`;
    return { verdict: 'skipped for slowness', steps: [handed, step('skip', text)] };
  }
  if (writtenAt === undefined && !isSlow) return { verdict: 'under way', steps: [handed] };
  if (writtenAt === undefined) {
    const text = 'its socket has not taken all that is before it';
    return { verdict: 'waiting for a slow client', steps: [handed, step('write', text)] };
  }
  const rest = bytesInSocket === 0 ? 'it has sent all of it' : `${bytesInSocket} bytes wait in it`;
  const text = `written to its socket by ${timeOf(writtenAt)}: ${rest}`;
  return { verdict: 'delivered', steps: [handed, step('write', text)] };
}
