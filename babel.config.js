import proxyLazy from './babel-plugins/proxy-lazy/index.js';

/** The server runs what it is compiled for: the Node.js that is running now, no polyfills, no module rewriting. */
export default {
  plugins: [proxyLazy],
  presets: [
    ['@babel/preset-env', { targets: { node: 'current' }, modules: false }],
    [
      '@babel/preset-typescript',
      {
        allowDeclareFields: true,
        onlyRemoveTypeImports: true,
        optimizeConstEnums: true,
        rewriteImportExtensions: true,
      },
    ],
  ],
  sourceMaps: true,
};
