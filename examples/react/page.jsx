/** Live bids of one auction, and a notice where some may be missing. */
import { ApolloClient, gql, InMemoryCache } from '@apollo/client';
import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
import { ApolloProvider, useSubscription } from '@apollo/client/react';
import { createClient } from 'graphql-ws';
import { useState } from 'react';
import { createRoot } from 'react-dom/client';
import { resumable } from 'sluice/client';

const parameters = new URLSearchParams(location.search);

const GATEWAY = parameters.get('gateway') ?? 'ws://localhost:4000/graphql';

const AUCTION = parameters.get('auction') ?? 'auction-0';

const MOST_SHOWN = 20;

const LONGEST_WAIT_MS = 10_000;

const BIDS = gql`
  subscription Bids($auction_id: ID!) {
    bid_placed(auction_id: $auction_id) {
      bid_id
      amount {
        formatted
      }
      bidder {
        display_name
      }
    }
  }
`;

function connect(onGap) {
  const client = createClient({
    url: GATEWAY,
    shouldRetry: () => true,
    retryAttempts: Infinity,
    retryWait: (retries) =>
      new Promise((resolve) => {
        setTimeout(resolve, Math.random() * Math.min(1000 * 2 ** retries, LONGEST_WAIT_MS));
      }),
  });
  const link = new GraphQLWsLink(resumable(client, { onGap }));
  return new ApolloClient({ link, cache: new InMemoryCache() });
}

function Bids({ auctionId }) {
  const [bids, setBids] = useState([]);
  const { error } = useSubscription(BIDS, {
    variables: { auction_id: auctionId },
    fetchPolicy: 'no-cache',
    // `data` of the hook is the latest event only; after a reconnect several come at once.
    onData: ({ data }) => setBids((before) => [data.data.bid_placed, ...before].slice(0, MOST_SHOWN)),
  });
  if (error) return <p role="alert">{error.message}</p>;
  return (
    <ol>
      {bids.map((bid) => (
        <li key={bid.bid_id}>
          {bid.amount.formatted} by {bid.bidder.display_name}
        </li>
      ))}
    </ol>
  );
}

function Page() {
  const [gap, setGap] = useState();
  // A page with a service behind it fetches its bids again here, and needs no notice.
  const [apollo] = useState(() => connect(() => setGap(new Date())));
  return (
    <ApolloProvider client={apollo}>
      <h1>Bids</h1>
      {gap && <p role="status">Bids from before {gap.toLocaleTimeString()} may be missing.</p>}
      <Bids auctionId={AUCTION} />
    </ApolloProvider>
  );
}

createRoot(document.querySelector('#page')).render(<Page />);
