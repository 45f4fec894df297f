import { parse } from 'graphql';

/** What relay-compiler makes of a subscription without fragments and lists. */
export function requestOf(text) {
  const { name, selectionSet, variableDefinitions } = parse(text).definitions[0];
  const argumentDefinitions = variableDefinitions.map(({ variable }) => ({
    defaultValue: null,
    kind: 'LocalArgument',
    name: variable.name.value,
  }));
  const root = {
    argumentDefinitions,
    name: name.value,
    selections: selectionSet.selections.map(selectionOf),
  };
  return {
    fragment: { ...root, kind: 'Fragment', metadata: null, type: 'Subscription', abstractKey: null },
    kind: 'Request',
    operation: { ...root, kind: 'Operation' },
    params: { cacheID: text, id: null, metadata: {}, name: name.value, operationKind: 'subscription', text },
  };
}

function selectionOf({ name, arguments: given, selectionSet }) {
  const field = { alias: null, name: name.value, storageKey: null };
  const args = given.map(({ name: argument, value }) => ({
    kind: 'Variable',
    name: argument.value,
    variableName: value.name.value,
  }));
  if (selectionSet === undefined) return { ...field, args: null, kind: 'ScalarField' };
  const selections = selectionSet.selections.map(selectionOf);
  return { ...field, args, concreteType: null, kind: 'LinkedField', plural: false, selections };
}
