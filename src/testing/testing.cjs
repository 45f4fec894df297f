/**
 * The module that a test gets as `sluice/testing`, by `import` or `require`. Jest, and Vitest with its pools of vm
 * contexts, load the modules of a test file in a context that has no module hooks, which graphs need. There, Node.js's
 * own loader loads the gateway and the graph, as elsewhere, and only this module belongs to the test's context.
 */
'use strict';

const { EventEmitter } = require('node:events');
const path = require('node:path');
const { pathToFileURL } = require('node:url');
const { constants, Script } = require('node:vm');

/** The modules of Node.js belong to the context that it begins with, even if this module does not. */
const isSandbox = Object.getPrototypeOf(EventEmitter) !== Function.prototype;

/** Each test file has its own sandbox, as it has its own copy of this module. */
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
