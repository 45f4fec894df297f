const PHASES = {
  connecting: 'Connecting …',
  lost: 'The connection was lost. Connecting again …',
  completed: 'The gateway has ended the subscription.',
  stopped: 'Stopped.',
};

const NO_SCHEMA =
  'The schema could not be read; the result says why. ' +
  'If it takes a header, such as a token: add it under Headers, and press the round arrows.';

const clock = new Intl.DateTimeFormat('en-GB', {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  fractionalSecondDigits: 3,
});

/**
 * A component that shows an EventStream: its state in a line, and its results and closes in a list.
 *
 * @param globals React and GraphiQL; the component must be used within GraphiQL's providers
 */
export function streamView({ React, GraphiQL }, stream) {
  const { createElement: e, memo, useEffect, useState, useSyncExternalStore } = React;
  const { useEditorContext, useSchemaStore } = GraphiQL.React;

  function StreamView() {
    const { phase, error, count, entries } = useSyncExternalStore(stream.watch, stream.snapshot);
    const { tabs, activeTabIndex } = useEditorContext({ nonNull: true });
    const { fetchError } = useSchemaStore();
    const tab = tabs[activeTabIndex].id;
    // Then GraphiQL shows the result of another tab.
    useEffect(() => () => stream.clear(), [tab]);
    const text = phase === 'idle' ? fetchError && NO_SCHEMA : textOf(phase, error, count);
    return e(
      React.Fragment,
      null,
      e(
        'div',
        { className: 'stream-state', 'data-phase': phase, hidden: !text },
        e('span', { role: 'status' }, text),
        count > 0 && e('span', { className: 'stream-count' }, countText(count)),
      ),
      entries.length > 0 &&
        e(
          'ol',
          { className: 'stream-entries', 'aria-label': 'Results, newest first', tabIndex: 0 },
          entries.map((entry) => e(Entry, { key: entry.number, entry })),
        ),
    );
  }

  const Entry = memo(({ entry: { at, result, close } }) => {
    const [isOpen, setOpen] = useState(false);
    const time = e('time', null, clock.format(at));
    if (close !== undefined)
      return e('li', { className: 'stream-close' }, time, `Connection closed: ${close}`);
    const short = JSON.stringify(result.errors === undefined ? result.data : result);
    return e(
      'li',
      null,
      e(
        'details',
        { onToggle: (event) => setOpen(event.currentTarget.open) },
        e('summary', null, time, short),
        isOpen && e('pre', null, JSON.stringify(result, null, 2)),
      ),
    );
  });

  return StreamView;
}

function textOf(phase, error, count) {
  if (phase === 'failed') return `Failed: ${error}`;
  if (phase === 'open') return count === 0 ? 'Connected. Waiting for events …' : 'Connected. Events arrive.';
  return PHASES[phase];
}

function countText(count) {
  return count === 1 ? '1 result' : `${count.toLocaleString('en')} results`;
}
