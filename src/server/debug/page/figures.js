/* Runs in the browser: what one process holds, in a line. */
import { element, setText } from './elements.js';
import { bytes, duration, percent, whole } from './format.js';

const LEVELS = ['none', 'refuses connections', 'pauses partitions', 'sheds sockets'];

/** `value` gets the state of the process; undefined: the figure is left out. */
const FIGURES = [
  { title: 'Connections', view: 'connections', value: ({ connections }) => whole(connections) },
  { title: 'Groups', view: 'groups', value: ({ groups }) => whole(groups) },
  { title: 'Channels', view: 'channels', value: ({ channels }) => whole(channels) },
  {
    title: 'Partitions',
    view: 'partitions',
    value: ({ kafka }) => kafka && whole(kafka.partitions),
    mark: ({ kafka }) => (kafka?.connected && kafka.notConsuming === 0 ? undefined : 'fault'),
  },
  {
    title: 'Lag',
    view: 'partitions',
    value: ({ kafka }) =>
      kafka &&
      (kafka.lagSeconds > 0 ? `${whole(kafka.lag)}, ${duration(kafka.lagSeconds)}` : whole(kafka.lag)),
    mark: ({ kafka }) => (kafka?.lag > 0 ? 'warning' : undefined),
  },
  { title: 'Resident', value: ({ memory }) => bytes(memory.residentBytes) },
  {
    title: 'Heap',
    value: ({ memory: { heapUsedBytes: used, heapLimitBytes: limit } }) =>
      `${bytes(used)}, ${percent(used / limit)}`,
  },
  {
    title: 'Pressure',
    value: ({ pressure }) => pressure && pressureText(pressure),
    mark: ({ pressure }) => (pressure?.level > 0 ? 'fault' : undefined),
  },
  { title: 'Up for', value: ({ uptimeSeconds }) => duration(uptimeSeconds) },
  { title: 'Process', value: ({ pid }) => String(pid) },
  { title: 'Node.js', value: ({ node }) => node },
];

function pressureText({ level, used }) {
  const { resident: _, ...acted } = used;
  const fullest = Math.max(...Object.values(acted));
  return level === 0 ? percent(fullest) : `${percent(fullest)}, ${LEVELS[level]}`;
}

export class Figures {
  #entries;

  /** @param hashOf of the state: the target of a link to a view */
  constructor(list, hashOf) {
    this.#entries = FIGURES.map((figure) => {
      const value = element('dd', { textContent: '–' });
      const title =
        figure.view === undefined
          ? element('span', { textContent: figure.title })
          : element('a', { textContent: figure.title });
      const entry = element('div', { children: [element('dt', { children: [title] }), value] });
      list.append(entry);
      return { ...figure, entry, shown: value, link: title };
    });
    this.links(hashOf);
  }

  links(hashOf) {
    for (const { view, link } of this.#entries) if (view !== undefined) link.href = hashOf(view);
  }

  show(state) {
    for (const { value, mark, entry, shown } of this.#entries) {
      const text = value(state);
      entry.hidden = text === undefined || text === null;
      if (entry.hidden) continue;
      setText(shown, text);
      const marked = mark?.(state);
      for (const name of ['warning', 'fault']) shown.classList.toggle(name, name === marked);
    }
  }
}
