/* Runs in the browser: one panel, which is a title, a legend with values, and lines over time. */

const HEIGHT = 170;
const EDGES = { top: 8, right: 6, bottom: 20, left: 56 };
const STYLES = ['first', 'second'];
const SHORTEST_MS = 60_000;

export class Chart {
  element = document.createElement('section');
  #panel;
  #svg = svgElement('svg', { role: 'img' });
  #values;
  #points = [];
  #longest;
  #span = SHORTEST_MS;
  /** The point under the pointer. */
  #pointed;

  /** @param longest most ms on the x axis; fewer while the points cover a shorter time */
  constructor(panel, longest) {
    this.#panel = panel;
    this.#longest = longest;
    this.element.className = 'panel';
    const title = document.createElement('h2');
    title.textContent = panel.title;
    this.#svg.setAttribute('aria-label', `${panel.title}: the last minutes`);
    this.element.append(title, this.#legend(), this.#svg);
    this.#svg.addEventListener('pointermove', (event) => this.#point(event.offsetX));
    this.#svg.addEventListener('pointerleave', () => this.#point(undefined));
    new ResizeObserver(() => this.#draw()).observe(this.#svg);
  }

  /** @param points `{ time, values }`, oldest first; the line has a gap at a value that is undefined */
  show(points) {
    this.#points = points;
    const elapsed = (points.at(-1)?.time ?? 0) - (points[0]?.time ?? 0);
    this.#span = Math.min(Math.max(SHORTEST_MS, elapsed), this.#longest);
    this.#pointed = points.includes(this.#pointed) ? this.#pointed : undefined;
    this.#draw();
  }

  #legend() {
    const legend = document.createElement('dl');
    legend.className = 'legend';
    this.#values = this.#panel.series.map((name, index) => {
      const [entry, term, value] = ['div', 'dt', 'dd'].map((tag) => document.createElement(tag));
      entry.className = STYLES[index];
      term.textContent = name;
      value.textContent = '–';
      entry.append(term, value);
      legend.append(entry);
      return value;
    });
    return legend;
  }

  #point(x) {
    const near = (point) => Math.abs(this.#x(point.time) - x);
    this.#pointed =
      x === undefined
        ? undefined
        : this.#points.reduce((one, other) => (one && near(one) <= near(other) ? one : other), undefined);
    this.#draw();
  }

  #draw() {
    const { format, max: fixed } = this.#panel;
    const shown = this.#pointed ?? this.#points.at(-1);
    this.#values.forEach((element, index) => {
      const value = shown?.values[index];
      element.textContent = value === undefined ? '–' : format(value);
    });
    const largest = Math.max(0, ...this.#points.flatMap(({ values }) => values.filter(Number.isFinite)));
    const max = fixed ?? niceMax(largest, this.#panel.unit);
    const y = (value) => HEIGHT - EDGES.bottom - (value / max) * (HEIGHT - EDGES.top - EDGES.bottom);
    const lines = this.#panel.series.map((_, index) =>
      svgElement('path', { class: `line ${STYLES[index]}`, d: pathOf(this.#points, index, this.#xOf, y) }),
    );
    this.#svg.replaceChildren(...this.#grid(max, y), ...this.#times(), ...lines, ...this.#cursor());
  }

  *#grid(max, y) {
    for (const value of [0, max / 2, max]) {
      const at = y(value);
      yield svgElement('line', { class: 'grid', x1: EDGES.left, x2: this.#right, y1: at, y2: at });
      const label = svgElement('text', { x: EDGES.left - 8, y: at + 4, 'text-anchor': 'end' });
      label.textContent = this.#panel.format(value);
      yield label;
    }
  }

  *#times() {
    const start = svgElement('text', { x: EDGES.left, y: HEIGHT - 4 });
    const seconds = Math.round(this.#span / 1000);
    start.textContent = seconds < 120 ? `${seconds} s ago` : `${Math.round(seconds / 60)} min ago`;
    const end = svgElement('text', { x: this.#right, y: HEIGHT - 4, 'text-anchor': 'end' });
    end.textContent = this.#pointed === undefined ? 'now' : new Date(this.#pointed.time).toLocaleTimeString();
    yield start;
    yield end;
  }

  *#cursor() {
    if (this.#pointed === undefined) return;
    const x = this.#x(this.#pointed.time);
    yield svgElement('line', { class: 'cursor', x1: x, x2: x, y1: EDGES.top, y2: HEIGHT - EDGES.bottom });
  }

  get #right() {
    return Math.max(EDGES.left + 1, this.#svg.clientWidth - EDGES.right);
  }

  #x(time) {
    const end = this.#points.at(-1)?.time ?? 0;
    return this.#right - ((end - time) / this.#span) * (this.#right - EDGES.left);
  }

  #xOf = (time) => this.#x(time);
}

function svgElement(name, attributes) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
}

function pathOf(points, index, x, y) {
  let pen = 'M';
  let path = '';
  for (const { time, values } of points) {
    const value = values[index];
    if (!Number.isFinite(value)) {
      pen = 'M';
      continue;
    }
    path += `${pen}${x(time).toFixed(1)},${y(value).toFixed(1)}`;
    // A point between two gaps is drawn as a dot.
    if (pen === 'M') path += 'h0';
    pen = 'L';
  }
  return path;
}

/**
 * The next larger of 1, 2, 4, 5, 10, 20 … units, so that half of it, the middle grid line, is a round figure as well.
 */
function niceMax(value, unit = 1) {
  const wanted = value / unit;
  const power = wanted > 0 ? 10 ** Math.floor(Math.log10(wanted)) : 1;
  return unit * ([1, 2, 4, 5, 10].find((step) => step * power >= wanted) ?? 10) * power;
}
