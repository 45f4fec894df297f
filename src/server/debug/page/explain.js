/* Runs in the browser: why a connection did, or did not, get an event. */
import { fetchJson } from './api.js';
import { element } from './elements.js';
import { explanation } from './explanation.js';

const FIELDS = [
  { name: 'connection', title: 'Connection', hint: 'id, may be empty', isOptional: true },
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
    if (FIELDS.some(({ name, isOptional }) => !isOptional && parameters[name] === undefined)) {
      this.#asked = '';
      this.#answer.replaceChildren(nothingAsked((view) => this.#state.hashOf(view)));
      return;
    }
    const question = JSON.stringify([parameters, this.#state.worker]);
    if (question === this.#asked) return;
    this.#asked = question;
    void this.#ask({ ...parameters, worker: this.#state.worker });
  }

  async #ask(parameters) {
    this.#answer.setAttribute('aria-busy', 'true');
    this.#answer.replaceChildren(element('p', { className: 'hint', textContent: 'Asking …' }));
    const asked = this.#asked;
    const answer = await fetchJson('explain', parameters).then(explanation, explained);
    if (asked !== this.#asked) return;
    this.#answer.setAttribute('aria-busy', 'false');
    this.#answer.replaceChildren(answer);
  }

  #field({ name, title, hint, isOptional = false, inputMode = 'text' }) {
    const input = element('input', {
      name,
      required: !isOptional,
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
  return element('p', { className: 'error', textContent: text, attributes: { role: 'alert' } });
}

function nothingAsked(hashOf) {
  const link = (view, textContent) => element('a', { href: hashOf(view), textContent });
  return element('p', {
    className: 'empty',
    children: [
      'Name an event, and the connection that did or did not get it: each row of ',
      link('connections', 'Connections'),
      ' and ',
      link('partitions', 'Partitions'),
      ' leads here. The first question begins a recording, so that events from then on can be explained.',
    ],
  });
}
