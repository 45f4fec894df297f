/**
 * What `sluice/testing` is to a test, by `import` and by `require`. Jest, and Vitest with its pools of vm contexts, load the
 * modules of a test file in a context that has no module hooks, which graphs need. There, Node.js's own loader loads
 * gateway and graph, as it does elsewhere, and this module is all that is of the test's context.
 */
'use strict';

const { EventEmitter } = require('node:events');
const path = require('node:path');
const { pathToFileURL } = require('node:url');
const { constants, Script } = require('node:vm');

/** Modules of Node.js are of the context that it begins with. */
const isSandbox = Object.getPrototypeOf(EventEmitter) !== Function.prototype;

/** One for each test file, as this module is. */
const sandbox = isSandbox ? { parse: JSON.parse } : undefined;

exports.testGateway = async (folder, options = {}) => {
  const { startTestGateway } = await (isSandbox ? fromOutside() : import('./test-gateway.js'));
  return startTestGateway(folder, options, sandbox);
};

function fromOutside() {
  const importModuleDynamically = constants.USE_MAIN_CONTEXT_DEFAULT_LOADER;
  const load = new Script('(url) => import(url)', { importModuleDynamically }).runInThisContext();
  return load(pathToFileURL(path.join(__dirname, 'test-gateway.js')).href);
}
