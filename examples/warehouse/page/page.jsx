/** The stock of some products, live: `?token=…&products=7,8`. */
import { useEffect, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { connect } from './connection.js';

const parameters = new URLSearchParams(location.search);

const CHANGES = `
  subscription Changes($product_id: [ID!]!) {
    stock_changed(product_id: $product_id) {
      product_id
      quantity
      quality
      place { warehouse_id aisle shelf }
    }
  }
`;

const keyOf = ({ product_id, place }) => [product_id, ...Object.values(place)].join('/');

function useStock() {
  const [stock, setStock] = useState(new Map());
  const [state, setState] = useState({ isLive: false, hasGap: false, error: undefined });
  useEffect(() => {
    const tell = (change) => setState((before) => ({ ...before, ...change }));
    const client = connect({
      url: parameters.get('gateway') ?? 'ws://localhost:4000/graphql',
      token: parameters.get('token'),
      onState: (isLive) => tell({ isLive }),
      // A page with a service behind it asks for `stock` again here, and needs no notice.
      onGap: () => tell({ hasGap: true }),
    });
    const variables = { product_id: (parameters.get('products') ?? '7').split(',') };
    return client.subscribe(
      { query: CHANGES, variables },
      {
        next({ data, errors }) {
          if (errors) tell({ error: errors[0].message });
          const row = data?.stock_changed;
          if (row) setStock((before) => new Map(before).set(keyOf(row), row));
        },
        error: (error) => tell({ error: error.reason ?? error.message ?? String(error[0]?.message) }),
        complete: () => tell({ isLive: false }),
      },
    );
  }, []);
  return { stock, ...state };
}

function Page() {
  const { stock, isLive, hasGap, error } = useStock();
  return (
    <>
      <h1>Stock</h1>
      <p role="status">{isLive ? 'live' : 'not connected'}</p>
      {hasGap && <p role="note">Some changes may be missing.</p>}
      {error && <p role="alert">{error}</p>}
      <table>
        <tbody>
          {[...stock].map(([key, { product_id, place, quantity, quality }]) => (
            <tr key={key}>
              <td>{product_id}</td>
              <td>
                {place.warehouse_id} {place.aisle}
                {place.shelf}
              </td>
              <td>
                {quantity} {quality.toLowerCase()}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

createRoot(document.querySelector('#page')).render(<Page />);
