/* Runs in the browser: one table with its search, its order and the row that is selected. */
import { element, setText } from './elements.js';
import { whole } from './format.js';

const LIMITS = [25, 100, 500, 1_000];
const LIMIT = 100;

/** ms after the last key before the search begins. */
const SEARCH_AFTER = 250;

const ORDERS = { asc: 'ascending', desc: 'descending' };

export class TableView {
  #table;
  #state;
  #headings = new Map();
  #search;
  #limit;
  #count = element('p', { className: 'count' });
  #error = element('p', { className: 'error', attributes: { role: 'alert' } });
  #none = element('p', { className: 'empty' });
  #body = element('tbody');
  #scroller;
  #details = element('section', { className: 'details', hidden: true });
  #rows = new Map();
  #shown = [];
  #typing;
  element;

  /**
   * @param table one of TABLES
   * @param state a PageState, whose view it is
   */
  constructor(table, state) {
    this.#table = table;
    this.#state = state;
    this.#search = element('input', {
      type: 'search',
      placeholder: `Search by ${table.search}`,
      maxLength: 200,
      attributes: { 'aria-label': `Search by ${table.search}` },
    });
    this.#search.addEventListener('input', () => {
      clearTimeout(this.#typing);
      const { value } = this.#search;
      this.#typing = setTimeout(() => state.set({ search: value }), SEARCH_AFTER);
    });
    this.#limit = element('select', {
      children: LIMITS.map((value) => element('option', { value: String(value), textContent: whole(value) })),
    });
    this.#limit.addEventListener('change', () => state.set({ limit: this.#limit.value }));
    this.#scroller = element('div', {
      className: 'scroller',
      tabIndex: 0,
      attributes: { role: 'region', 'aria-label': table.title },
      children: [element('table', { children: [this.#head(), this.#body] })],
    });
    this.element = element('section', {
      className: 'table-view',
      children: [
        element('p', { className: 'hint', textContent: table.hint }),
        element('div', {
          className: 'toolbar',
          children: [this.#search, element('label', { children: ['Rows ', this.#limit] }), this.#count],
        }),
        this.#error,
        this.#scroller,
        this.#none,
        this.#details,
      ],
    });
  }

  /** The parameters of the request to the gateway. */
  get query() {
    const { sort, order } = this.#order;
    return { sort, order, limit: this.#asked('limit', LIMIT), search: this.#state.get('search') };
  }

  get endpoint() {
    return this.#table.rows;
  }

  /** Shows the user's choice at once, before its rows have come. */
  chosen() {
    const { sort, order } = this.#order;
    for (const [name, heading] of this.#headings) {
      if (name === sort) heading.setAttribute('aria-sort', ORDERS[order]);
      else heading.removeAttribute('aria-sort');
    }
    const search = this.#state.get('search') ?? '';
    if (document.activeElement !== this.#search) this.#search.value = search;
    this.#limit.value = String(this.#asked('limit', LIMIT));
    this.#select();
  }

  /** @param listing the gateway's answer */
  show({ rows, count, matching }) {
    setText(this.#error, '');
    this.element.classList.remove('stale');
    setText(this.#count, countText(rows.length, matching, count));
    setText(this.#none, rows.length > 0 ? '' : this.#noneText(count));
    this.#shown = rows;
    this.#update(rows);
    this.#select();
  }

  /** The previous rows stay, but are marked as out of date. */
  fail(message) {
    setText(this.#error, message);
    this.element.classList.add('stale');
  }

  get #order() {
    const { sort, columns } = this.#table;
    const asked = this.#state.get('sort');
    const name = columns.some((column) => column.sort !== undefined && column.sort === asked) ? asked : sort;
    return { sort: name, order: this.#state.get('order') === 'asc' ? 'asc' : 'desc' };
  }

  #asked(name, standard) {
    const value = Number(this.#state.get(name));
    return LIMITS.includes(value) ? value : standard;
  }

  #head() {
    const cells = this.#table.columns.map(({ title, sort, number }) => {
      const cell = element('th', { scope: 'col', className: number ? 'number' : '' });
      if (sort === undefined) {
        cell.append(element('span', { textContent: title }));
        return cell;
      }
      const button = element('button', { type: 'button', textContent: title });
      button.addEventListener('click', () => this.#sortBy(sort, number));
      cell.append(button);
      this.#headings.set(sort, cell);
      return cell;
    });
    return element('thead', { children: [element('tr', { children: cells })] });
  }

  #sortBy(name, isNumber) {
    const { sort, order } = this.#order;
    const first = isNumber ? 'desc' : 'asc';
    const turned = order === 'asc' ? 'desc' : 'asc';
    this.#state.set({ sort: name, order: sort === name ? turned : first });
  }

  /** Keeps the elements of rows that were shown before, with the focus and selection in them. */
  #update(rows) {
    const focused = document.activeElement;
    const kept = new Map();
    for (const [index, row] of rows.entries()) {
      const id = this.#table.id(row);
      // Long names that have been shortened may be equal.
      const key = kept.has(id) ? `${id} ${index}` : id;
      const line = this.#rows.get(key) ?? this.#line(key);
      kept.set(key, line);
      this.#fill(line, row);
      if (this.#body.children[index] !== line)
        this.#body.insertBefore(line, this.#body.children[index] ?? null);
    }
    while (this.#body.children.length > rows.length) this.#body.lastElementChild.remove();
    this.#rows = kept;
    // A row that is moved loses the focus.
    if (focused !== document.activeElement && this.#body.contains(focused))
      focused.focus({ preventScroll: true });
  }

  #line(key) {
    const cells = this.#table.columns.map(({ number, code, wide }, index) => {
      const classes = [number && 'number', code && 'code', wide && 'wide'].filter(Boolean).join(' ');
      const child = index === 0 ? element('button', { type: 'button' }) : undefined;
      return element(index === 0 ? 'th' : 'td', {
        className: classes,
        ...(index === 0 && { scope: 'row' }),
        children: [child],
      });
    });
    const line = element('tr', { children: cells });
    line.addEventListener('click', () => {
      if (getSelection().isCollapsed) this.#state.set({ selected: this.#selected === key ? undefined : key });
    });
    return line;
  }

  #fill(line, row) {
    for (const [index, { text, mark, number, wide }] of this.#table.columns.entries()) {
      const cell = line.children[index];
      const value = text(row);
      setText(cell.firstElementChild ?? cell, value ?? '–');
      const marked = mark?.(row);
      for (const name of ['warning', 'fault']) cell.classList.toggle(name, name === marked);
      cell.classList.toggle('none', value === undefined);
      if (!number && wide) cell.title = value ?? '';
    }
  }

  #noneText(count) {
    const search = this.#state.get('search');
    return search === undefined || count === 0 ? this.#table.none : `None has “${search}” in it.`;
  }

  get #selected() {
    return this.#state.get('selected');
  }

  #select() {
    const key = this.#selected;
    for (const [id, line] of this.#rows) {
      line.classList.toggle('selected', id === key);
      line.querySelector('button').setAttribute('aria-expanded', String(id === key));
    }
    const row = this.#shown.find((one) => this.#table.id(one) === key);
    this.#details.hidden = key === undefined;
    if (key === undefined) return;
    const content = row === undefined ? this.#gone(key) : this.#detailsOf(row, key);
    // Text that is being copied stays selected.
    const isCopied = !getSelection().isCollapsed && this.#details.contains(getSelection().anchorNode);
    if (isCopied || this.#details.contains(document.activeElement)) return;
    this.#details.replaceChildren(...content);
  }

  #detailsOf(row, key) {
    return [this.#titled(key, row), ...this.#table.details(row, (...to) => this.#state.hashOf(...to))];
  }

  #gone(key) {
    return [
      this.#titled(key),
      element('p', { className: 'hint', textContent: 'It is not among the rows that are listed now.' }),
    ];
  }

  #titled(key, row) {
    const close = element('button', { type: 'button', textContent: 'Close' });
    close.addEventListener('click', () => {
      this.#rows.get(key)?.querySelector('button').focus({ preventScroll: true });
      close.blur();
      this.#state.set({ selected: undefined });
    });
    const first = this.#table.columns[0].text;
    const title = row === undefined ? key : first(row);
    return element('div', {
      className: 'details-head',
      children: [element('h2', { textContent: title }), close],
    });
  }
}

function countText(listed, matching, count) {
  const all = `${whole(count)} in all`;
  if (listed === count) return all;
  if (listed === matching) return `${whole(matching)} match, ${all}`;
  return matching === count
    ? `${whole(listed)} listed, ${all}`
    : `${whole(listed)} listed, ${whole(matching)} match, ${all}`;
}
