/* Runs in the browser: an answer of /debug/explain, for people. */
import { element } from './elements.js';
import { whole } from './format.js';

/** How an operator should read an outcome; outcomes that are not listed are neutral. */
const TONES = {
  'filtered out': 'meant',
  'other channel': 'meant',
  'before it connected': 'meant',
  'let through': 'good',
  'other topic': 'meant',
  superseded: 'meant',
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

/**
 * @param question that was asked
 * @param answers in the form that `askPods` returns
 */
export function explanations(question, { explanations: all, recordings, faults }) {
  return element('div', {
    children: [
      ...all.map(explanation),
      all.length === 0 ? note(`None of the last events of ${question.topic} is such a one.`) : undefined,
      ...recordings.map((one) => recording(question.topic, one)),
      ...faults.map(note),
    ],
  });
}

function explanation({ connection, event, consumed, consumedBy, subscriptions }) {
  const { topic, partition, offset } = event;
  const of = connection === null ? '' : `, connection ${connection}`;
  return element('article', {
    children: [
      element('h2', { textContent: `${topic} ${partition}/${offset}${of}` }),
      consumption(consumed, consumedBy),
      ...subscriptions.map(subscription),
      connection !== null && subscriptions.length === 0
        ? note('The connection has no subscription, and @auth has refused it none.')
        : undefined,
    ],
  });
}

function recording(topic, { process, since, until, events: recorded, kept: { consumed, arrived } }) {
  return note(
    `${process}: of ${topic}, ${events(recorded)} recorded since ${timeOf(since)}; ` +
      `until ${timeOf(until)}, unless you ask again. Of the last events it keeps ` +
      `${whole(consumed.events)} consumed since ${timeOf(consumed.since)}, ` +
      `${whole(arrived.events)} that came since ${timeOf(arrived.since)}.`,
  );
}

const note = (textContent) => element('p', { className: 'hint', textContent });
const events = (count) => (count === 1 ? '1 event' : `${whole(count)} events`);
const timeOf = (iso) => new Date(iso).toLocaleTimeString();
const label = (text) =>
  element('span', { className: `verdict ${TONES[text] ?? ''}`.trim(), textContent: text });

function consumption(consumed, consumedBy) {
  if (consumed === null) {
    return section('Consumed', 'by none that was asked', [
      note('The process that consumes the partition knows how it was routed: it may be one of another pod.'),
    ]);
  }
  return section('Consumed', consumed.outcome, [
    list([{ step: 'consume', text: `at ${consumed.at} by ${consumedBy}` }, ...consumed.steps]),
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
