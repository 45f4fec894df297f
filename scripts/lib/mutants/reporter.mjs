/** A reporter for Node's test runner: a line for each test of a file, as JSON after a mark, as soon as it has ended. */

/** Tests print lines of their own. */
export const MARK = '@@sluice-test ';

export default async function* reporter(events) {
  for await (const { type, data } of events) {
    if (data.nesting !== 0 || (type !== 'test:pass' && type !== 'test:fail')) continue;
    const failed = type === 'test:fail' && (data.todo ?? false) === false;
    // The last line of a test may have no end.
    yield `\n${MARK}${JSON.stringify({ file: data.file, name: data.name, failed })}\n`;
  }
}
