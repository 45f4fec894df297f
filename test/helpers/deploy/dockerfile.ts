/** One instruction, with its arguments as written, but without comments. */
export interface Instruction {
  readonly name: string;
  readonly args: string;
}

export interface Stage {
  /** Another stage, or an image. */
  readonly from: string;
  /** The stage's number if it has no name. */
  readonly name: string;
  readonly instructions: readonly Instruction[];
}

/** Returns the stages of a Dockerfile with one instruction a line, which is the form of ours. */
export function stagesOf(dockerfile: string): Stage[] {
  const stages: (Stage & { instructions: Instruction[] })[] = [];
  for (const line of dockerfile.split('\n')) {
    if (line.trim() === '' || line.startsWith('#')) continue;
    const [, name = '', args = ''] = /^([A-Z]+) (.+)$/.exec(line) ?? [];
    if (name === '' || args.endsWith('\\')) throw new Error(`Expected one instruction, got: ${line}`);
    if (name !== 'FROM') {
      stages.at(-1)?.instructions.push({ name, args });
      continue;
    }
    const [, from = '', as = String(stages.length)] = /^(\S+)(?: AS (\S+))?$/.exec(args) ?? [];
    stages.push({ from, name: as, instructions: [] });
  }
  return stages;
}

/** Returns the paths of a folder that the engine gets: the file must begin by excluding all. */
export function includedBy(dockerignore: string): string[] {
  const [first, ...others] = dockerignore.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  const strange = others.filter((line) => !/^![\w./-]+$/.test(line));
  if (first !== '*' || strange.length > 0) {
    throw new Error(`Expected * and then !<path> only, got: ${[first, ...strange].join(', ')}`);
  }
  return others.map((line) => line.slice(1));
}
