/* Runs in the browser: why a connection did, or did not, get an event. */
import { fetchJson } from './api.js';
import { definitions, element } from './elements.js';

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

/** Any JSON: objects as terms, lists as numbered. */
function rendered(value) {
  if (Array.isArray(value)) {
    return element('ol', { children: value.map((one) => element('li', { children: [rendered(one)] })) });
  }
  if (typeof value === 'object' && value !== null) {
    return definitions(
      Object.entries(value).map(([name, one]) => [name, rendered(one)]),
      'tree',
    );
  }
  return element('span', { textContent: String(value) });
}
