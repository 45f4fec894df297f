/* Runs in the browser: why a connection did, or did not, get an event. */
import { fetchJson } from './api.js';
import { element } from './elements.js';

const FIELDS = [
  { name: 'connection', title: 'Connection', hint: 'id, as in the table of connections' },
  { name: 'topic', title: 'Topic' },
  { name: 'partition', title: 'Partition', inputMode: 'numeric' },
  { name: 'offset', title: 'Offset', inputMode: 'numeric' },
];

export class ExplainView {
  #state;
  #inputs = new Map();
  #answer = element('div', { className: 'answer', attributes: { role: 'status' } });
  /** Of the question that has been asked last: it is not asked again until another one is, or the user asks. */
  #asked = '';
  element;

  constructor(state) {
    this.#state = state;
    const form = element('form', {
      className: 'explain',
      children: [
        ...FIELDS.map((field) => this.#field(field)),
        element('button', { type: 'submit', textContent: 'Explain' }),
      ],
    });
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      this.#asked = '';
      const values = [...this.#inputs].map(([name, input]) => [name, input.value.trim()]);
      state.set(Object.fromEntries(values));
    });
    this.element = element('section', {
      className: 'table-view',
      children: [
        element('p', {
          className: 'hint',
          textContent:
            'Why a connection did, or did not, get an event: how it was routed, filtered, executed and written.',
        }),
        form,
        this.#answer,
      ],
    });
  }

  /** Another question is in the URL. */
  chosen() {
    for (const [name, input] of this.#inputs) {
      if (document.activeElement !== input) input.value = this.#state.get(name) ?? '';
    }
    const parameters = Object.fromEntries(FIELDS.map(({ name }) => [name, this.#state.get(name)]));
    if (Object.values(parameters).some((value) => value === undefined)) return;
    const question = JSON.stringify([parameters, this.#state.worker]);
    if (question === this.#asked) return;
    this.#asked = question;
    void this.#ask({ ...parameters, worker: this.#state.worker });
  }

  async #ask(parameters) {
    this.#answer.replaceChildren(element('p', { textContent: 'Asking …' }));
    const asked = this.#asked;
    const answer = await fetchJson('explain', parameters).then(rendered, explained);
    if (asked === this.#asked) this.#answer.replaceChildren(answer);
  }

  #field({ name, title, hint, inputMode = 'text' }) {
    const input = element('input', {
      name,
      required: true,
      inputMode,
      autocomplete: 'off',
      spellcheck: false,
    });
    if (inputMode === 'numeric') input.pattern = '\\d+';
    if (hint !== undefined) input.placeholder = hint;
    this.#inputs.set(name, input);
    return element('label', { children: [title, input] });
  }
}

function explained(error) {
  const text = `No explanation: ${error.message}.`;
  return element('p', { className: 'error', textContent: text });
}

/** How a verdict looks: whether the client got the event, should not have, or lost it. */
const TONES = {
  delivered: 'good',
  published: 'good',
  'executed with an error': 'bad',
  'dead letter': 'bad',
  'skipped for slowness': 'bad',
  'did not reach this process': 'bad',
  'under way': 'open',
  'not recorded': 'open',
  'held by a throttle': 'open',
};

function rendered({ consumed, subscriptions, recording }) {
  const { since, until, events } = recording;
  const none = 'It has no subscription. Of one that was refused, its client got the error.';
  return element('div', {
    children: [
      consumed === null
        ? undefined
        : item(element('span', { textContent: 'Consumed by this process' }), '', consumed),
      ...subscriptions.map(subscription),
      subscriptions.length === 0 ? element('p', { textContent: none }) : undefined,
      element('p', {
        className: 'hint',
        textContent: `Recorded since ${timeOf(since)}, until ${timeOf(until)} unless asked again; ${events} events.`,
      }),
    ],
  });
}

function timeOf(text) {
  return new Date(text).toLocaleTimeString();
}

function subscription({ field, operation, variables, ...reasons }) {
  const asked = Object.keys(variables).length === 0 ? '' : JSON.stringify(variables);
  return item(
    element('code', { textContent: field }),
    [operation === null ? '' : `of ${operation}`, asked].join(' ').trim(),
    reasons,
  );
}

function item(title, more, { verdict, because }) {
  return element('article', {
    className: 'verdict',
    children: [
      element('h2', {
        children: [
          title,
          more === '' ? undefined : element('span', { className: 'more', textContent: more }),
          element('span', { className: `pill ${TONES[verdict] ?? 'kept'}`, textContent: verdict }),
        ],
      }),
      element('ol', { children: because.map((reason) => element('li', { textContent: reason })) }),
    ],
  });
}
