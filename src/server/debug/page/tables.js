/* Runs in the browser: the tables for operators, and the details of a selected row. */
import { definitions, element } from './elements.js';
import { bytes, duration, milliseconds, ratio, whole } from './format.js';

/**
 * A column. `sort`: the name that the gateway sorts it by, undefined if it does not. `text`: the text of a row's cell;
 * undefined is shown as a dash. `number`: aligned right, largest first. `code`: text written by clients. `mark`: a class
 * for a cell that an operator should see.
 */
const number = (title, sort, format = whole, more = {}) => ({
  title,
  sort,
  number: true,
  text: (row) => (row[sort] === null ? undefined : format(row[sort])),
  ...more,
});
const text = (title, sort, more = {}) => ({ title, sort, text: (row) => row[sort] ?? undefined, ...more });

const isSome = (value) => value > 0;
const slowMark = (row) => (row.slowSeconds === null ? undefined : 'warning');
const pre = (value) => element('pre', { textContent: value });

const operation = {
  title: 'Operation',
  sort: 'operationName',
  text: (row) => row.operationName ?? 'anonymous',
};
const variables = { title: 'Variables', text: (row) => row.variables || undefined, code: true, wide: true };

/** Paths of viewers, with the executions that each has cost. */
const splits = {
  title: 'Split by',
  code: true,
  wide: true,
  text: ({ splits: paths }) =>
    paths.map(({ path, executions }) => `${path} (${whole(executions)})`).join(', ') || undefined,
};

function groupDetails(row) {
  const { splits: paths } = row;
  return [
    definitions([
      ['Topic', row.topic],
      ['Subscribers', whole(row.subscribers)],
      ['Events', whole(row.events)],
      ['Executions', whole(row.executions)],
      ['Executions per event', row.executionsPerEvent === null ? undefined : ratio(row.executionsPerEvent)],
      ['Time of the event loop', milliseconds(row.ms)],
      ['Until asynchronous ones were over', row.awaitedMs > 0 ? milliseconds(row.awaitedMs) : undefined],
      ['Events waiting', whole(row.waiting)],
      ['Channels', `${whole(row.channels.count)}: ${row.channels.first.join(', ')}`],
      ['State', row.live ? 'subscribed' : 'its channels are being joined'],
    ]),
    sharingNote(row, paths),
    element('h3', { textContent: 'Document' }),
    pre(row.document),
    ...(row.variables === '' ? [] : [element('h3', { textContent: 'Variables' }), pre(row.variables)]),
  ];
}

function sharingNote({ sharing, unshared, buckets, executions, ms, awaitedMs }, paths) {
  const share = unshared / executions;
  const waiting = awaitedMs > 0 ? ` and ${milliseconds(awaitedMs * share)} of waiting for back ends` : '';
  const reason =
    sharing === 'NEVER' ? 'Each subscriber is executed for alone' : 'Viewers differ in what was read';
  const lines =
    unshared === 0
      ? ['All its subscribers have shared each execution.']
      : [
          `${reason}: of ${whole(executions)} executions, ${whole(unshared)} were needed for that only, ` +
            `about ${milliseconds(ms * share)} of the event loop${waiting}.`,
          `The last event that was split took ${whole(buckets)} executions.`,
        ];
  const list = paths.map(({ path, executions: some }) =>
    element('li', {
      children: [element('code', { textContent: path }), ` cost ${whole(some)} executions`],
    }),
  );
  return element('div', {
    className: 'note',
    children: [
      ...lines.map((line) => element('p', { textContent: line })),
      ...(list.length > 0 ? [element('ul', { children: list })] : []),
    ],
  });
}

/** @param hashOf of the state: the target of a link to another view */
const explainLink = (hashOf, parameters, title) =>
  element('p', {
    children: [element('a', { href: hashOf('explain', parameters), textContent: title })],
  });

/**
 * By view. `rows`: the endpoint. `sort`: the first sort column. `id`: identifies a row across responses. `none`: the text
 * if there are no rows.
 */
export const TABLES = {
  connections: {
    title: 'Connections',
    rows: 'connections',
    sort: 'waitingBytes',
    hint: 'Clients that do not read fast enough come first: the bytes that wait for them, and since when.',
    search: 'id, viewer, transport or state',
    none: 'No client is connected.',
    id: ({ id }) => id,
    columns: [
      { title: 'Id', text: ({ id }) => id, code: true },
      number('Waiting', 'waitingBytes', bytes, { mark: slowMark }),
      number('Slow for', 'slowSeconds', duration, { mark: slowMark }),
      number('Age', 'ageSeconds', duration),
      number('Operations', 'operations'),
      number('Channels', 'channels'),
      text('Transport', 'transport'),
      text('Viewer', 'viewer', { wide: true }),
      text('State', 'state'),
    ],
    details: (row, hashOf) => [
      definitions([
        ['Transport', row.transport],
        ['Viewer', row.viewer ?? 'unknown: VIEWER_ID does not name it'],
        ['State', row.state],
        ['Age', duration(row.ageSeconds)],
        ['Operations', whole(row.operations)],
        ['Channels', whole(row.channels)],
        ['Bytes waiting', bytes(row.waitingBytes)],
        ['Slow for', row.slowSeconds === null ? 'not slow' : duration(row.slowSeconds)],
      ]),
      explainLink(hashOf, { connection: row.id }, 'Explain an event to this connection'),
    ],
  },
  groups: {
    title: 'Groups',
    rows: 'groups',
    sort: 'subscribers',
    hint: 'Subscriptions with the same operation and variables: an event is executed once for all that may share it.',
    search: 'field, operation, topic, variables or document',
    none: 'There are no subscriptions.',
    id: ({ id }) => id,
    columns: [
      text('Field', 'field'),
      operation,
      variables,
      number('Subscribers', 'subscribers'),
      number('Events', 'events'),
      number('Executions', 'executions'),
      number('Per event', 'executionsPerEvent', ratio),
      number('Loop time', 'ms', milliseconds),
      number('Waiting', 'waiting', whole, {
        mark: ({ waiting }) => (isSome(waiting) ? 'warning' : undefined),
      }),
      text('Topic', 'topic'),
    ],
    details: groupDetails,
  },
  sharing: {
    title: 'Sharing',
    rows: 'groups',
    sort: 'unshared',
    hint: 'What splits groups: executions that were needed only because viewers differ at a path that was read.',
    search: 'field, operation, topic, variables or document',
    none: 'There are no subscriptions.',
    id: ({ id }) => id,
    columns: [
      text('Field', 'field'),
      operation,
      splits,
      number('Unshared', 'unshared', whole, {
        mark: ({ unshared }) => (isSome(unshared) ? 'warning' : undefined),
      }),
      number('Executions', 'executions'),
      number('Per event', 'executionsPerEvent', ratio),
      number('Buckets', 'buckets'),
      number('Loop time', 'ms', milliseconds),
      number('Awaited', 'awaitedMs', milliseconds),
      number('Subscribers', 'subscribers'),
      variables,
    ],
    details: groupDetails,
  },
  channels: {
    title: 'Channels',
    rows: 'channels',
    sort: 'subscribers',
    hint: 'What this process is subscribed to on the bus.',
    search: 'name',
    none: 'No channel is subscribed to.',
    id: ({ name }) => name,
    columns: [
      text('Name', 'name', { code: true, wide: true }),
      number('Subscribers', 'subscribers'),
      number('Groups', 'groups'),
      number('Events', 'events'),
    ],
    details: (row) => [
      definitions([
        ['Subscribers', whole(row.subscribers)],
        ['Groups', whole(row.groups)],
        ['Events', whole(row.events)],
      ]),
    ],
  },
  partitions: {
    title: 'Partitions',
    rows: 'partitions',
    sort: 'lag',
    hint: 'What this process consumes of Kafka, and how far it is behind.',
    search: 'topic, partition, state or reason',
    none: 'This process consumes no partition.',
    id: ({ topic, partition }) => `${topic}/${partition}`,
    columns: [
      text('Topic', 'topic'),
      number('Partition', 'partition'),
      number('Lag', 'lag', whole, { mark: ({ lag }) => (isSome(lag) ? 'warning' : undefined) }),
      number('Behind', 'lagSeconds', duration),
      number('Position', 'position'),
      number('High watermark', 'highWatermark'),
      text('State', 'state', { mark: ({ state }) => (state === 'consuming' ? undefined : 'fault') }),
      { title: 'Reason', text: ({ reason }) => reason ?? undefined, wide: true },
    ],
    details: (row, hashOf) => [
      definitions([
        ['State', row.state],
        ['Reason', row.reason],
        ['Position', whole(row.position)],
        ['High watermark', row.highWatermark === null ? 'not known yet' : whole(row.highWatermark)],
        ['Lag', row.lag === null ? 'not known yet' : whole(row.lag)],
      ]),
      explainLink(
        hashOf,
        { topic: row.topic, partition: row.partition, offset: Math.max(0, row.position - 1) },
        'Explain its last event',
      ),
    ],
  },
};
