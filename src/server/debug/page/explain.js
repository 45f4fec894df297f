/* Runs in the browser: why a connection did, or did not, get an event. */
import { fetchJson } from './api.js';
import { askAll } from './ask.js';
import { element } from './elements.js';
import { explanations } from './explanation.js';

const FIELDS = [
  { name: 'connection', title: 'Connection', hint: 'id, may be empty' },
  { name: 'topic', title: 'Topic', isRequired: true },
  { name: 'key', title: 'Key', hint: 'may be empty' },
  { name: 'partition', title: 'Partition', hint: 'any', inputMode: 'numeric' },
  { name: 'offset', title: 'Offset', hint: 'the last ones', inputMode: 'numeric' },
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
            'Why a connection did, or did not, get an event: how it was routed, filtered, executed and written. All workers of ' +
            'this pod are asked; the connection is one of the worker that is chosen above.',
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
    if (FIELDS.some(({ name, isRequired }) => isRequired && parameters[name] === undefined)) {
      this.#asked = '';
      this.#answer.replaceChildren(nothingAsked((view) => this.#state.hashOf(view)));
      return;
    }
    const question = JSON.stringify([parameters, this.#state.worker]);
    if (question === this.#asked) return;
    this.#asked = question;
    const given = Object.entries(parameters).filter(([, value]) => value !== undefined);
    void this.#ask(Object.fromEntries(given), this.#state.worker || '1');
  }

  async #ask(question, worker) {
    this.#answer.setAttribute('aria-busy', 'true');
    this.#answer.replaceChildren(element('p', { className: 'hint', textContent: 'Asking …' }));
    const asked = this.#asked;
    const answer = await ask(question, worker).then(
      (answers) => explanations({ ...question, worker }, answers),
      explained,
    );
    if (asked !== this.#asked) return;
    this.#answer.setAttribute('aria-busy', 'false');
    this.#answer.replaceChildren(answer);
  }

  #field({ name, title, hint, isRequired = false, inputMode = 'text' }) {
    const input = element('input', {
      name,
      required: isRequired,
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

const processOf = (name) => ({
  name: `worker ${name}`,
  ask: (question) => fetchJson('explain', { ...question, worker: name }),
});

/** @param worker that has the connection */
async function ask(question, worker) {
  const { workers } = await fetchJson('workers');
  const others = workers.map((one) => `${one.worker}`).filter((name) => name !== worker);
  return askAll(question, processOf(worker), others.map(processOf));
}

function explained(error) {
  const text = `No explanation: ${error.message}.`;
  return element('p', { className: 'error', textContent: text, attributes: { role: 'alert' } });
}

function nothingAsked(hashOf) {
  const link = (view, textContent) => element('a', { href: hashOf(view), textContent });
  return element('p', {
    className: 'empty',
    children: [
      'Name a topic, a key or an event of it, and the connection that did or did not get it: each row of ',
      link('connections', 'Connections'),
      ' and ',
      link('partitions', 'Partitions'),
      ' leads here. The first question begins a recording, which tells more of events from then on.',
    ],
  });
}
