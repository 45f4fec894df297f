/* Runs in the browser: why a connection did, or did not, get an event. */
import { fetchJson } from './api.js';
import { askPods } from './ask.js';
import { element } from './elements.js';
import { explanations } from './explanation.js';

const FIELDS = [
  { name: 'connection', title: 'Connection', hint: 'id, may be empty' },
  { name: 'topic', title: 'Topic', isRequired: true },
  { name: 'key', title: 'Key', hint: 'may be empty' },
  { name: 'partition', title: 'Partition', hint: 'any', inputMode: 'numeric' },
  { name: 'offset', title: 'Offset', hint: 'the last ones', inputMode: 'numeric' },
  { name: 'pods', title: 'Other pods', hint: 'ports, such as 4002' },
];

export class ExplainView {
  #state;
  #inputs = new Map();
  #answer = element('div', { className: 'answer', attributes: { role: 'status' } });
  /** The last question: it is not asked again until there is another one, or the user asks again. */
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
            'this pod are asked, and of the other pods that are named by the port at which a port-forward has them on this ' +
            'machine. The connection is one of this pod, and of the worker that is chosen above.',
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

  async #ask({ pods = '', ...question }, worker) {
    this.#answer.setAttribute('aria-busy', 'true');
    this.#answer.replaceChildren(element('p', { className: 'hint', textContent: 'Asking …' }));
    const asked = this.#asked;
    const answer = await ask(question, worker, pods).then(
      (answers) => explanations(question, answers),
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

/**
 * @param worker the worker of this pod that has the connection
 * @param pods the ports of this machine that forward to the admin ports of other pods
 */
async function ask(question, worker, pods) {
  const others = pods.split(/[\s,]+/).filter((port) => port !== '');
  const wrong = others.find((port) => !/^\d{1,5}$/.test(port));
  if (wrong !== undefined) {
    throw new Error(`other pods: expected ports, such as 4002, got ${JSON.stringify(wrong)}`);
  }
  const { origin, protocol, hostname } = location;
  const own = { name: 'this pod', url: origin };
  const behind = others.map((port) => ({ name: `port ${port}`, url: `${protocol}//${hostname}:${port}` }));
  return askPods(question, [own, ...behind], worker, fetchJson);
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
