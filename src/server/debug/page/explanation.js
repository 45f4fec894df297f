/* Runs in the browser: an answer of /debug/explain, for people. */
import { element } from './elements.js';
import { whole } from './format.js';

/** What an operator is to make of it; the others say nothing either way. */
const TONES = {
  'filtered out': 'meant',
  'other channel': 'meant',
  'other topic': 'meant',
  delivered: 'good',
  'executed with an error': 'bad',
  unauthorised: 'bad',
  'dead letter': 'bad',
  'did not reach this process': 'bad',
  'waiting for a slow client': 'slow',
  'skipped for slowness': 'slow',
  'skipped at MAX_WAITING_EVENTS': 'slow',
  'held by a throttle': 'slow',
};

/** @param answer as the gateway has given it */
export function explanation({ connection, event, recording, consumed, subscriptions }) {
  const { topic, partition, offset } = event;
  const of = connection === null ? '' : `, connection ${connection}`;
  return element('article', {
    children: [
      element('h2', { textContent: `${topic} ${partition}/${offset}${of}` }),
      consumption(consumed),
      ...subscriptions.map(subscription),
      connection !== null && subscriptions.length === 0
        ? note('The connection has no subscription, and @auth has refused it none.')
        : undefined,
      note(
        `Of ${topic}, ${events(recording.events)} recorded since ${timeOf(recording.since)}; ` +
          `until ${timeOf(recording.until)}, unless you ask again.`,
      ),
    ],
  });
}

const note = (textContent) => element('p', { className: 'hint', textContent });
const events = (count) => (count === 1 ? '1 event' : `${whole(count)} events`);
const timeOf = (iso) => new Date(iso).toLocaleTimeString();
const label = (text) =>
  element('span', { className: `verdict ${TONES[text] ?? ''}`.trim(), textContent: text });

function consumption(consumed) {
  if (consumed === null) {
    return section('Consumed', 'not by this process', [
      note('Not since the recording began: the process that consumes the partition knows how it was routed.'),
    ]);
  }
  return section('Consumed', consumed.outcome, [
    list([{ step: 'consume', text: `at ${consumed.at}` }, ...consumed.steps]),
  ]);
}

function subscription({ field, operation, variables, verdict, steps }) {
  const asked = variables === null ? '' : JSON.stringify(variables);
  const by = [operation ?? 'anonymous', ...(asked === '' || asked === '{}' ? [] : [asked])];
  return section(field, verdict, [
    element('p', {
      className: 'asked',
      children: ['operation ', element('code', { textContent: by.join(' ') })],
    }),
    list(steps),
  ]);
}

function section(title, verdict, children) {
  return element('section', {
    children: [
      element('div', {
        className: 'explained-head',
        children: [element('h3', { textContent: title }), label(verdict)],
      }),
      ...children,
    ],
  });
}

function list(steps) {
  return element('ol', {
    className: 'steps',
    children: steps.map(({ step, text, compared = [] }) =>
      element('li', {
        children: [
          element('span', { className: 'step', textContent: step }),
          element('div', {
            children: [
              element('p', { textContent: text }),
              ...(compared.length === 0
                ? []
                : [element('ul', { className: 'compared', children: compared.map(comparison) })]),
            ],
          }),
        ],
      }),
    ),
  });
}

/** `fails  amount.value gte $min (100)  the event has 42` */
function comparison({ path, operator, operand, with: value, got, outcome }) {
  const expected = operand === null ? value : `${operand} (${value})`;
  return element('li', {
    className: outcome.replace(' ', '-'),
    children: [
      element('span', { className: 'outcome', textContent: outcome }),
      ' ',
      element('code', { textContent: `${path} ${operator} ${expected}` }),
      element('span', {
        className: 'got',
        children: [' the event has ', element('code', { textContent: got })],
      }),
    ],
  });
}
