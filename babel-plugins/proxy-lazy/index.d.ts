import type { PluginObj } from '@babel/core';

/** Options: `import`, the module that the run time comes from instead of `sluice/lazy`. */
export default function proxyLazy(
  babel: typeof import('@babel/core'),
  options: { import?: string },
): PluginObj;
