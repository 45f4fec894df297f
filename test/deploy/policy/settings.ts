import { exampleFaults, loadConfig } from '../../../src/config/config.ts';
import { configWarnings } from '../../../src/config/warnings.ts';
import { SluiceError } from '../../../src/errors.ts';

type Environment = Readonly<Record<string, string>>;

/** What a gateway would say of these variables at its start; example values left out. */
export function settingFaults(environment: Environment): string[] {
  const examples = exampleFaults(environment);
  try {
    loadConfig({ ...environment, KUBERNETES_SERVICE_HOST: '10.0.0.1' });
    return [];
  } catch (error) {
    if (!(error instanceof SluiceError)) throw error;
    const [, ...lines] = error.message.split('\n');
    return lines.filter((line) => !examples.includes(line)).map((line) => line.trim());
  }
}

/** What it would warn of. */
export function settingWarnings(environment: Environment): string[] {
  try {
    return configWarnings(environment, loadConfig({ ...environment, KUBERNETES_SERVICE_HOST: '10.0.0.1' }));
  } catch {
    return [];
  }
}
