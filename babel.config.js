/** For the oldest Node.js that runs it (`engines`): no polyfills, no module rewriting. */
export default {
  presets: [
    ['@babel/preset-env', { targets: { node: '20.19' }, modules: false }],
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
  // The plugin is compiled by this too, before everything else.
  overrides: [{ exclude: './babel-plugins', plugins: ['./dist/babel-plugins/proxy-lazy/index.js'] }],
  sourceMaps: true,
};
