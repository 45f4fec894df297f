/** A reporter for Node's test runner which writes one line for each test that was skipped, or is still to do. */
export default async function* skipped(events) {
  for await (const { type, data } of events) {
    if (type !== 'test:pass' && type !== 'test:fail') continue;
    const reason = data.skip ?? data.todo;
    if (reason === undefined || reason === false) continue;
    yield `${data.name}: ${reason === true || reason === '' ? 'no reason given' : reason}\n`;
  }
}
