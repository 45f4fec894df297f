/* Runs in the browser: what the page is made of, and what it asks the gateway for while it is looked at. */
import { fetchJson, fetchText } from './api.js';
import { element, setText } from './elements.js';
import { ExplainView } from './explain.js';
import { Figures } from './figures.js';
import { Reading } from './metrics.js';
import { Overview } from './overview.js';
import { Poller } from './poller.js';
import { PageState } from './state.js';
import { TableView } from './table-view.js';
import { TABLES } from './tables.js';

const part = (id) => document.querySelector(`#${id}`);
const status = part('status');
const pause = part('pause');
const workers = part('worker');

const VIEWS = ['overview', ...Object.keys(TABLES), 'explain'];
const state = new PageState(VIEWS, chosen);
const hashOf = (view, parameters) => state.hashOf(view, parameters);

const overview = new Overview();
part('panels').append(...overview.elements);

const views = new Map(
  Object.entries(TABLES).map(([name, table]) => [name, new TableView(table, viewState(name))]),
);
views.set('explain', new ExplainView(state));

const links = VIEWS.map((name) => {
  const title = TABLES[name]?.title ?? (name === 'explain' ? 'Explain' : 'Overview');
  return { name, link: element('a', { textContent: title }) };
});
part('views').append(...links.map(({ link }) => link));
const figures = new Figures(part('figures'), hashOf);

const poller = new Poller(refresh);
pause.addEventListener('click', () => {
  poller.isPaused = !poller.isPaused;
  pause.setAttribute('aria-pressed', String(poller.isPaused));
  setText(pause, poller.isPaused ? 'Go on' : 'Pause');
  if (poller.isPaused) say(`Paused at ${new Date().toLocaleTimeString()}.`);
});
workers.addEventListener('change', () => {
  state.worker = workers.value;
});

show();
await poller.now();

/** A view's own parameters: they may change while the user looks at another view. */
function viewState(name) {
  return {
    get: (parameter) => (state.view === name ? state.get(parameter) : undefined),
    set: (parameters) => state.view === name && state.set(parameters),
    hashOf,
  };
}

/** The user looks at something else. */
function chosen() {
  show();
  void poller.now();
}

function show() {
  const { view, worker } = state;
  const current = views.get(view);
  part('panels').hidden = view !== 'overview';
  const place = part('view');
  if (place.firstElementChild !== (current?.element ?? null)) {
    place.replaceChildren(...(current === undefined ? [] : [current.element]));
  }
  current?.chosen();
  for (const { name, link } of links) {
    link.href = hashOf(name);
    if (name !== view) link.removeAttribute('aria-current');
    else if (!link.hasAttribute('aria-current')) {
      link.setAttribute('aria-current', 'page');
      link.scrollIntoView({ block: 'nearest', inline: 'nearest' });
    }
  }
  figures.links(hashOf);
  for (const link of document.querySelectorAll('footer a[data-worker]')) {
    const [path, query = ''] = link.getAttribute('href').split('?');
    const parameters = new URLSearchParams(query);
    parameters.delete('worker');
    if (worker !== '') parameters.set('worker', worker);
    link.setAttribute('href', parameters.size === 0 ? path : `${path}?${parameters}`);
  }
}

/** @returns whether the gateway has answered */
async function refresh() {
  const answers = await Promise.all([metrics(), processState(), workerStates(), rows()]);
  const failures = answers.filter((failure) => failure !== undefined);
  if (poller.isPaused) return true;
  if (failures.length === 0) say(`Live, every ${Poller.everyMs / 1000} seconds.`);
  return failures.length === 0;
}

/** @returns why there are no metrics */
async function metrics() {
  try {
    const text = await fetchText('../metrics');
    overview.take(new Reading(text, performance.timeOrigin + performance.now()));
    return undefined;
  } catch (error) {
    overview.miss(performance.timeOrigin + performance.now());
    say(`No metrics since ${new Date().toLocaleTimeString()}: ${error.message}. Trying again.`, true);
    return error;
  }
}

async function processState() {
  try {
    figures.show(await fetchJson('process', { worker: state.worker }));
    part('figures').classList.remove('stale');
    return undefined;
  } catch (error) {
    part('figures').classList.add('stale');
    return error;
  }
}

/** Shows which processes can be chosen: the choice appears only if there are several. */
async function workerStates() {
  try {
    const { workers: all } = await fetchJson('workers');
    part('worker-choice').hidden = all.length < 2;
    if (workers.options.length !== all.length) {
      workers.replaceChildren(...all.map(({ worker }) => element('option', { value: String(worker) })));
    }
    for (const [index, { worker, pid, ready }] of all.entries()) {
      const process = pid === undefined ? 'ended' : `process ${pid}`;
      setText(workers.options[index], `${worker}: ${process}${ready ? '' : ', not ready'}`);
    }
    if (document.activeElement !== workers) workers.value = state.worker || '1';
    return undefined;
  } catch (error) {
    return error;
  }
}

async function rows() {
  const { view, worker } = state;
  const current = views.get(view);
  if (current?.query === undefined) return undefined;
  const question = JSON.stringify([view, worker, current.query]);
  const isStill = () => question === JSON.stringify([state.view, state.worker, current.query]);
  try {
    const listing = await fetchJson(current.endpoint, { ...current.query, worker });
    if (isStill()) current.show(listing);
    return undefined;
  } catch (error) {
    if (isStill()) current.fail(`Not up to date since ${new Date().toLocaleTimeString()}: ${error.message}.`);
    return error;
  }
}

function say(text, isFault = false) {
  setText(status, text);
  status.className = isFault ? 'fault' : '';
}
