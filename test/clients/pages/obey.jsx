import { useEffect, useMemo, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { sinkOf } from '../programs/told.js';

/** Where the gateway is, and who the client is. */
export const { GATEWAY, TOKEN, TRANSPORT } = SURROUNDINGS;

/**
 * Shows a component for each subscription that a test asks for, and removes it when it is told to.
 *
 * @param Subscription is given `query`, `variables` and `sink`
 * @param Provider of the library, around it
 */
export function show(Subscription, Provider) {
  createRoot(document.querySelector('main')).render(
    <Provider>
      <Subscriptions Subscription={Subscription} />
    </Provider>,
  );
}

function Subscriptions({ Subscription }) {
  const [operations, setOperations] = useState([]);
  useEffect(() => {
    globalThis.obey = (line) => {
      const { id, stop, ...operation } = JSON.parse(line);
      setOperations((before) =>
        stop ? before.filter((each) => each.id !== id) : [...before, { id, ...operation }],
      );
    };
  }, []);
  return (
    <ul>
      {operations.map(({ id, ...operation }) => (
        <Told key={id} id={id} operation={operation} Subscription={Subscription} />
      ))}
    </ul>
  );
}

function Told({ id, operation, Subscription }) {
  const sink = useMemo(() => sinkOf(id, (what) => globalThis.tell(JSON.stringify(what))), [id]);
  return <Subscription {...operation} sink={sink} />;
}
