import { configMarkdown, describeConfig, loadConfig } from '../config/config.ts';
import { withGraph } from '../gateway/graph-folder.ts';
import { argumentsOf } from './command.ts';
import { print } from './output.ts';

/** `sluice config [--markdown]` */
export async function config(args: readonly string[]): Promise<number> {
  const { options } = argumentsOf(args, [], { options: ['markdown'] });
  return print(
    `${options.has('markdown') ? configMarkdown() : describeConfig(loadConfig(withGraph(process.env)))}\n`,
  );
}
