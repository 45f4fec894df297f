/** The tag that babel-plugin-relay replaces. */
const TAG = /graphql`(\s*subscription (\w+)[^`]*)`/;

const linked = (name: string, concreteType: string, args: object[] | null, selections: object[]) => ({
  alias: null,
  args,
  concreteType,
  kind: 'LinkedField',
  name,
  plural: false,
  selections,
  storageKey: null,
});

const scalar = (name: string) => ({ alias: null, args: null, kind: 'ScalarField', name, storageKey: null });

const SELECTIONS = [
  linked(
    'bid_placed',
    'Bid',
    [{ kind: 'Variable', name: 'auction_id', variableName: 'auction_id' }],
    [scalar('bid_id'), linked('amount', 'Price', null, [scalar('formatted')])],
  ),
];

/**
 * @returns the program, with relay-compiler's output for a subscription to bids in place of its tag; a program without
 *   a tag is not changed
 */
export function compiledForRelay(program: string): string {
  return program.replace(TAG, (_tag, text: string, name: string) => JSON.stringify(artifact(name, text)));
}

function artifact(name: string, text: string): object {
  const argumentDefinitions = [{ defaultValue: null, kind: 'LocalArgument', name: 'auction_id' }];
  const root = { argumentDefinitions, name, selections: SELECTIONS };
  return {
    fragment: { ...root, kind: 'Fragment', metadata: null, type: 'Subscription', abstractKey: null },
    kind: 'Request',
    operation: { ...root, kind: 'Operation' },
    params: { cacheID: name, id: null, metadata: {}, name, operationKind: 'subscription', text },
  };
}
