/**
 * What is left out of the command line's bundle: client-node opens kubeconfigs there, and sends nothing (ADR 0006).
 *
 * Its `KubeConfig` imports an HTTP client of 730 KB and the generated API clients for methods that are never called.
 * Sources stay as they are. A name that stands for one of them throws when it is used.
 */
import type { Plugin } from 'esbuild';

const LEFT_OUT = 'left-out';
const CLIENT_NODE_CONFIG = /@kubernetes\/client-node\/dist\/config\.js$/;
/** By the module as config.js imports it: the names that it takes. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  undici: ['Agent', 'ProxyAgent'],
  './gen/index.js': ['createConfiguration', 'ServerConfiguration'],
};

/** For the build of the command line, and no other. */
export const leaveOutClients: Plugin = {
  name: LEFT_OUT,
  setup: (bundler) => {
    bundler.onResolve({ filter: /^(undici|\.\/gen\/index\.js)$/ }, ({ path, importer }) =>
      CLIENT_NODE_CONFIG.test(importer) ? { path, namespace: LEFT_OUT } : undefined,
    );
    bundler.onLoad({ filter: /.*/, namespace: LEFT_OUT }, ({ path }) => ({
      contents: (NAMES[path] ?? [])
        .map(
          (name) =>
            `export function ${name}() { throw new Error('${name} is not in this bundle'); }`,
        )
        .join('\n'),
    }));
  },
};
