import type { JsonValue } from '../../events/event.ts';
import type { PassedOverReason } from '../../events/trace.ts';
import type { Binding } from '../../graph/graph.ts';
import { counted } from '../output.ts';
import { harmless, quoted } from '../quoted.ts';
import type { GroupWay, RoutedWay, Way } from './way.ts';

/** The kind of a line: it names the event, or tells of results sent, of none sent, or of a failure. */
type Tone = 'event' | 'sent' | 'unsent' | 'failed';

export interface WayLine {
  readonly tone: Tone;
  readonly text: string;
}

type FieldBinding = Pick<Binding, 'field' | 'key' | 'argument' | 'keyRequired'>;

const PASSED_OVER: Readonly<Record<PassedOverReason, string>> = {
  no_field: 'no field has this topic',
  tombstone: 'passed over: it has no value (a tombstone)',
  too_old: 'passed over: it is older than EVENT_MAX_AGE_SECONDS',
  by_decode: "passed over by the graph's decode",
  deleted: 'passed over: it deletes the row of its key',
  by_envelope: 'passed over: its envelope holds no object',
  duplicate: 'passed over: the same CloudEvent has come before',
};

const MAX_CHARACTERS = 80;
const MAX_ERROR = 400;
const MAX_LISTED = 3;
const MAX_GROUPS = 10;

/** Where events come from, and go to. */
export interface Surroundings {
  /** How events come without Kafka and Redis; undefined if either is set. */
  readonly origin: string | undefined;
  /** Whether subscribers of other gateways get events of this one. */
  readonly isShared: boolean;
}

/**
 * An event's way for people: the event, and a line for each subscription field and group.
 *
 * @param bindings of the fields that show its topic
 */
export function wayLines(way: Way, bindings: Iterable<FieldBinding>, where: Surroundings): WayLine[] {
  const { routed, passedOver, undecodable, duplicateOn } = way;
  const lines: WayLine[] = [{ tone: 'event', text: headline(way, where) }];
  const add = (tone: Tone, text: string): void => void lines.push({ tone, text: `  ${text}` });
  if (undecodable !== undefined) {
    add('failed', `dead letter, ${undecodable.reason}: ${harmless(undecodable.message)}`);
    return lines;
  }
  if (passedOver !== undefined) {
    add('unsent', PASSED_OVER[passedOver]);
    return lines;
  }
  if (duplicateOn !== undefined) add('unsent', `dropped: ${harmless(duplicateOn)} has carried it before`);
  const groups = [...way.groups.values()];
  for (const group of groups.slice(0, MAX_GROUPS)) lines.push(...groupLines(group));
  if (groups.length > MAX_GROUPS) add('sent', restText(groups.slice(MAX_GROUPS)));
  if (routed === undefined) return lines;
  const reached = new Set(groups.map(({ group }) => group.field));
  for (const binding of bindings) {
    if (reached.has(binding.field)) continue;
    add('unsent', unreachedText(binding, routed, where));
  }
  return lines;
}

/** The lines for a group that got an event after the event had ended. */
export function laterLines(way: Way, group: GroupWay, where: Surroundings): WayLine[] {
  return [{ tone: 'event', text: `${placeText(way, where)}, later` }, ...groupLines(group)];
}

function headline(way: Way, where: Surroundings): string {
  const { kafkaKey, routed } = way;
  const keys = [...(routed?.keys ?? [])].map(([name, value]) => `${name}: ${shown(value)}`);
  if (kafkaKey !== null) keys.unshift(`Kafka key: ${shown(kafkaKey)}`);
  const channels =
    routed === undefined
      ? ''
      : `  →  ${listed(
          routed.channels.map((channel) => cut(harmless(channel))),
          ', ',
        )}`;
  return [placeText(way, where), ...keys].join('  ') + channels;
}

function placeText({ place }: Way, { origin }: Surroundings): string {
  const { topic, partition, offset } = place;
  return origin === undefined ? `${topic} ${partition}/${offset}` : `${topic} #${offset} (${origin})`;
}

function groupLines(way: GroupWay): WayLine[] {
  const { group, subscribers, passing, executions, errors, isHeld, isReplay } = way;
  const { field, operation, variables } = group;
  const name = operation.name === undefined ? '' : ` of ${operation.name}`;
  const given = Object.keys(variables).length === 0 ? '' : ` ${cut(harmless(JSON.stringify(variables)))}`;
  const all = counted(subscribers, 'subscriber');
  const who = (count: string): string => `  ${field}: ${count}${name}${given}`;
  if (isHeld) return [{ tone: 'unsent', text: `${who(all)}: held for throttleMs` }];
  if (passing === 0) return [{ tone: 'unsent', text: `${who(all)}: filtered out` }];
  const filtered = subscribers - passing;
  const parts = [
    who(counted(passing, 'subscriber')),
    counted(executions, 'execution'),
    ...(filtered > 0 ? [`${filtered} filtered out`] : []),
    ...(isReplay ? ['replayed'] : []),
  ];
  return [
    { tone: 'sent', text: parts.join(', ') },
    ...errors.map((error): WayLine => ({
      tone: 'failed',
      text: `    error at ${cut(harmless(error), MAX_ERROR)}`,
    })),
  ];
}

function restText(groups: readonly GroupWay[]): string {
  const passing = groups.reduce((sum, group) => sum + group.passing, 0);
  return `and ${counted(groups.length, 'more group')} with ${counted(passing, 'subscriber')}`;
}

/** Says why the event reached no subscriber of a field. */
function unreachedText(
  { field, key, argument = key, keyRequired }: FieldBinding,
  { keys }: RoutedWay,
  { isShared }: Surroundings,
): string {
  const none = isShared ? 'no client of this gateway is subscribed to' : 'no client is subscribed to';
  if (key === undefined) return `${none} ${field}`;
  const value = keys.get(key);
  const values = (Array.isArray(value) ? value : [value]).filter((one) => one !== null && one !== undefined);
  if (values.length > 0) {
    const whole = keyRequired === true ? '' : `, or to ${field} without ${argument}`;
    return `${none} ${field}(${argument}: ${listed(values.map(shown), ' or ')})${whole}`;
  }
  const why = value === undefined ? `routing field ${key} missing` : `${key} is ${shown(value)}`;
  const whole = keyRequired === true ? '' : `; ${none} ${field} without it`;
  return `${why}, so not for ${field}(${argument}: …)${whole}`;
}

function shown(value: JsonValue | undefined): string {
  if (value === undefined) return 'missing';
  return cut(typeof value === 'string' ? quoted(value) : harmless(JSON.stringify(value)));
}

function listed(items: readonly string[], separator: string): string {
  const more = items.length - MAX_LISTED;
  const first = items.slice(0, MAX_LISTED).join(separator);
  return more > 0 ? `${first} and ${more} more` : first;
}

function cut(text: string, max = MAX_CHARACTERS): string {
  return text.length > max ? `${text.slice(0, max)}…` : text;
}
