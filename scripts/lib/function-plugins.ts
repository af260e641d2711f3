/**
 * What is left out of the functions' bundles, because an import would pay for it and a function never uses it (ADR 0022).
 *
 * Three things: the SDK's credential providers other than the environment's; the SDK's event streams, which no operation
 * of ours has; and the module face of Node's builtins, which reads every export of a builtin, getters that load further
 * builtins among them, where a function uses three. Sources stay as they are, so all of it is absent where they run
 * unbuilt. Assumes esbuild, format `esm`, and Node 24 on both sides. Changes no behaviour of a function.
 */
import { isBuiltin } from 'node:module';
import type { Plugin } from 'esbuild';

const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;

/** The default chain of every client becomes the one link that Lambda uses (ADR 0022). */
const environmentCredentials: Plugin = {
  name: 'environment-credentials',
  setup: (bundler) => {
    const namespace = 'environment-credentials';
    bundler.onResolve(
      { filter: /^@aws-sdk\/credential-provider-node$/ },
      ({ path: name, resolveDir }) => ({
        path: name,
        namespace,
        pluginData: resolveDir,
      }),
    );
    bundler.onLoad({ filter: /.*/, namespace }, ({ pluginData }) => ({
      contents: "export { fromEnv as defaultProvider } from '@aws-sdk/credential-provider-env';",
      resolveDir: pluginData as string, // as it was resolved above
    }));
  },
};

/**
 * The SDK imports its event streams at the first operation that has one; none of ours has. With that import in the
 * bundle, all modules that they share with the rest could not be merged into one scope, and would be parsed twice.
 */
const noEventStreams: Plugin = {
  name: 'no-event-streams',
  setup: (bundler) => {
    const namespace = 'no-event-streams';
    bundler.onResolve({ filter: /^@smithy\/core\/event-streams$/ }, ({ path: name }) => ({
      path: name,
      namespace,
    }));
    bundler.onLoad({ filter: /.*/, namespace }, () => ({
      contents:
        "throw new Error('functions are built without event streams: function-plugins.ts');",
    }));
  },
};

/** A builtin as a module whose exports are read one by one, and those that nobody imports not at all. */
function builtinSource(name: string): string {
  const exported = Object.keys(process.getBuiltinModule(name) ?? {}).filter(
    (key) => key !== 'default' && IDENTIFIER.test(key),
  );
  const lines = exported.map(
    (key) => `const $${key} = /* @__PURE__ */ (() => it.${key})();\nexport { $${key} as ${key} };`,
  );
  const it = `const it = /* @__PURE__ */ process.getBuiltinModule(${JSON.stringify(name)});`;
  return [it, 'export default it;', ...lines].join('\n');
}

/** Builtins come from `process.getBuiltinModule`. A dynamic import is left as it is. */
const builtinsByNeed: Plugin = {
  name: 'builtins-by-need',
  setup: (bundler) => {
    const namespace = 'builtins-by-need';
    bundler.onResolve({ filter: /^[a-z0-9_:/]+$/ }, ({ path: name, kind }) => {
      if (kind !== 'import-statement' || !isBuiltin(name)) return undefined;
      return { path: name.replace(/^(?!node:)/, 'node:'), namespace, sideEffects: false };
    });
    bundler.onLoad({ filter: /.*/, namespace }, ({ path: name }) => ({
      contents: builtinSource(name),
    }));
  },
};

/** For the build of the functions, and no other. */
export const functionPlugins: readonly Plugin[] = [
  environmentCredentials,
  noEventStreams,
  builtinsByNeed,
];
