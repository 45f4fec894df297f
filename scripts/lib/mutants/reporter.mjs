/** A reporter for Node's test runner: a line for each test of a file, as JSON after a mark, when the test has ended. */

/** Tells the reporter's lines from lines that tests print. */
export const MARK = '@@sluice-test ';

export default async function* reporter(events) {
  for await (const { type, data } of events) {
    if (data.nesting !== 0 || (type !== 'test:pass' && type !== 'test:fail')) continue;
    const failed = type === 'test:fail' && (data.todo ?? false) === false;
    // A test's last line may lack its newline.
    yield `\n${MARK}${JSON.stringify({ file: data.file, name: data.name, failed })}\n`;
  }
}
