/**
 * What is left out of the functions' bundles, because each import would pay for it and no function uses it (ADR 0001).
 *
 * Parts of the SDK that serve other hosts than Lambda, and other operations than ours, are replaced by the few lines
 * of REPLACEMENTS; its error classes and package.json files are said shorter. Of Node's builtins a bundle takes the exports that
 * it names: their face as ES modules reads every export, getters that load further builtins among them. Sources stay as they
 * are, so that nothing is left out where they run unbuilt. Assumes esbuild, format `esm`, and Node 24 on both sides. The build
 * fails when something that should be left out is in a bundle all the same, as an update of the SDK may bring it back.
 */
import { readFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'esbuild';

const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;
const BUILTINS = 'builtins-by-need';

/** No export of the package leads there, so that it is named by its file. */
const YAML_AS_ES_MODULES = fileURLToPath(
  new URL('../browser/dist/index.js', import.meta.resolve('yaml')),
);

/** A module, and what stands in its place. */
interface Replacement {
  /** As it is imported. */
  readonly module: RegExp;
  /** Only where this file imports it; absent: everywhere. */
  readonly importer?: RegExp;
  readonly contents: string;
}

const REPLACEMENTS: readonly Replacement[] = [
  // Profiles, SSO, processes, metadata services: Lambda puts credentials into the environment.
  {
    module: /^@aws-sdk\/credential-provider-node$/,
    contents: "export { fromEnv as defaultProvider } from '@aws-sdk/credential-provider-env';",
  },
  // Lambda has no ~/.aws: without this each client looks there for each setting that the environment leaves open.
  {
    module: /^\.\/readFile$/,
    importer: /@smithy\/core\/.*\/shared-ini-file-loader\//,
    contents: `export const filePromises = {};
      export const fileIntercept = {};
      export const readFile = () => Promise.reject(new Error('functions read no shared configuration'));`,
  },
  // Bodies that are read from files: ours are text and bytes. `node:fs` loads streams of files, and they its promises.
  {
    module: /^node:fs$/,
    importer: /@smithy\/core\/.*\/calculateBodyLength\.js$/,
    contents:
      'export class ReadStream {}\nexport const lstatSync = undefined, fstatSync = undefined;',
  },
  // Node has its own hashes: those written in JavaScript are for hosts without.
  {
    module: /^\.\/(Sha256|Md5)Js$/,
    importer: /@smithy\/core\/.*\/checksum\/(sha256|md5)\/\w+Node\.js$/,
    contents: 'export const Sha256Js = undefined, Md5Js = undefined;',
  },
  // Lambda says its region in the environment.
  {
    module: /\/getInstanceMetadataRegion$/,
    importer: /@smithy\/core\//,
    contents: 'export const getInstanceMetadataRegion = () => Promise.resolve(undefined);',
  },
  // Clients retry in the standard mode (src/adapters/aws/create-client.ts).
  {
    module: /\/AdaptiveRetryStrategy$/,
    importer: /@smithy\/core\/.*\/middleware-retry\/configurations\.js$/,
    contents: `export class AdaptiveRetryStrategy {
      constructor() { throw new Error('functions are built without adaptive retries'); }
    }`,
  },
  // No operation of ours has an event stream. Being imported late, it kept the SDK's core from being one scope.
  {
    module: /^@smithy\/core\/event-streams$/,
    contents: "throw new Error('functions are built without event streams');",
  },
  // The client of DynamoDB takes its settings, and no operation of it discovers endpoints.
  {
    module: /^@aws-sdk\/middleware-endpoint-discovery$/,
    contents: `const none = () => undefined;
      export const NODE_ENDPOINT_DISCOVERY_CONFIG_OPTIONS = { environmentVariableSelector: none, configFileSelector: none };
      export const resolveEndpointDiscoveryConfig = (config) => config;`,
  },
  {
    module: /\/DescribeEndpointsCommand$/,
    importer: /@aws-sdk\/client-dynamodb\/.*\/DynamoDBClient\.js$/,
    contents: 'export const DescribeEndpointsCommand = undefined;',
  },
  // No endpoint of ours has the name of a bucket.
  {
    module: /\/isVirtualHostableS3Bucket$/,
    importer: /@aws-sdk\/core\//,
    contents: 'export const isVirtualHostableS3Bucket = undefined;',
  },
  // A plan is put into words where a person asks (ADR 0082): no run does.
  {
    module: /\/status\/verdicts\.ts$/,
    importer: /\/core\/plan\/plan\.ts$/,
    contents: `const unasked = () => {
        throw new Error('functions put no plan into words');
      };
      export const blockedVerdict = unasked, judgeNode = unasked;`,
  },
  // Errors of policies are told without the lines around them (src/adapters/policy/read-yaml.ts).
  {
    module: /\/line-counter\.js$/,
    importer: /\/yaml\/browser\//,
    contents: 'export const LineCounter = undefined;',
  },
  // Policies are read, none is written. Its build for Node calls `require`; of its ES modules unused ones are left out.
  {
    module: /^yaml$/,
    contents: `export * from ${JSON.stringify(YAML_AS_ES_MODULES)};`,
  },
  // Of its schemas the one of YAML 1.2.
  {
    module: /^\.\/tags\.js$/,
    importer: /\/yaml\/browser\/dist\/schema\/Schema\.js$/,
    contents: `import { schema } from './core/schema.js';
      export const coreKnownTags = {};
      export const getTags = () => schema.slice();`,
  },
  // Neither tokens nor nodes are walked, values go through no reviver, and no node is made of a value, or the reverse.
  {
    module: /\/(cst-visit|visit|applyReviver|createNode|addPairToJSMap)\.js$/,
    importer: /\/yaml\/browser\//,
    contents: `export const visit = undefined, visitAsync = undefined, applyReviver = undefined, createNode = undefined,
      addPairToJSMap = undefined;`,
  },
  {
    module: /\/(stringify|fold)\w*\.js$/,
    importer: /\/yaml\/browser\//,
    contents: `export const createStringifyContext = undefined, foldFlowLines = undefined, indentComment = undefined,
      lineComment = undefined, stringify = undefined, stringifyCollection = undefined, stringifyComment = undefined,
      stringifyDocument = undefined, stringifyNumber = undefined, stringifyPair = undefined, stringifyString = undefined;`,
  },
];

/** Inputs of a bundle that say that something was not left out. */
const UNWANTED: readonly RegExp[] = [
  /credential-provider-(?!env\b)[a-z-]+\//,
  /\/event-streams\//,
  /\/(mnemonist|middleware-endpoint-discovery)\//,
  /\/((Sha256|Md5)Js|getInstanceMetadataRegion|AdaptiveRetryStrategy)\.js$/,
  /\/yaml\/(dist|browser\/dist\/(stringify|schema\/json))\//,
  /\/core\/status\/(verdicts|pod-verdicts|reasons)\.ts$/,
  new RegExp(`^${BUILTINS}:node:fs`),
];

/** The first input of a bundle that should have been left out. */
export function findUnwanted(inputs: readonly string[]): string | undefined {
  return inputs.find((input) => UNWANTED.some((pattern) => pattern.test(input)));
}

/** Replaces the modules of the table. */
const replacements: Plugin = {
  name: 'replacements',
  setup: (bundler) => {
    for (const [index, { module, importer, contents }] of REPLACEMENTS.entries()) {
      const namespace = `replacement-${String(index)}`;
      bundler.onResolve({ filter: module }, ({ path, importer: from, resolveDir }) =>
        importer?.test(from) === false ? undefined : { path, namespace, pluginData: resolveDir },
      );
      bundler.onLoad({ filter: /.*/, namespace }, ({ pluginData }) => ({
        contents,
        resolveDir: pluginData as string, // as it was resolved above
      }));
    }
  },
};

/** A builtin as a module whose exports are read one by one, and unimported ones not at all. */
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

/** Builtins come from `process.getBuiltinModule`; the watcher's bundle uses it, too. A dynamic import is left as it is. */
export const builtinsByNeed: Plugin = {
  name: BUILTINS,
  setup: (bundler) => {
    bundler.onResolve({ filter: /^[a-z0-9_:/]+$/ }, ({ path: name, kind }) => {
      if (kind !== 'import-statement' || !isBuiltin(name)) return undefined;
      return { path: name.replace(/^(?!node:)/, 'node:'), namespace: BUILTINS, sideEffects: false };
    });
    bundler.onLoad({ filter: /.*/, namespace: BUILTINS }, ({ path: name }) => ({
      contents: builtinSource(name),
    }));
  },
};

/** An error class of an SDK client as its generator writes it; one with more members looks otherwise, and stays. */
const PLAIN_ERROR = new RegExp(
  String.raw`export class (\w+) extends __BaseException \{\s+static shapeId = "([\w.]+)#\1";\s+name = "\1";` +
    String.raw`\s+\$fault = "(client|server)";\s+constructor\(opts\) \{\s+super\(\{\s+name: "\1",` +
    String.raw`\s+\$fault: "\3",\s+\.\.\.opts,\s+\}\);\s+Object\.setPrototypeOf\(this, \1\.prototype\);\s+\}\s+\}`,
  'g',
);

/** The base class sets the prototype of what it makes to its own: without the last statement nothing would be an instance of its class. */
const PLAIN_ERROR_CLASS = `const plainError = (space, name, fault) => class extends __BaseException {
  static shapeId = space + '#' + name;
  name = name;
  $fault = fault;
  constructor(opts) { super({ name, $fault: fault, ...opts }); Object.setPrototypeOf(this, new.target.prototype); }
};
`;

/** Error classes of a client, written once instead of a hundred times: a third of what the clients weigh. */
export function shortenErrors(source: string): string {
  const short = source.replace(PLAIN_ERROR, (_whole, ...found: readonly string[]) => {
    const [name, space, fault] = found.slice(0, 3).map((part) => JSON.stringify(part));
    return `export const ${found[0] ?? ''} = /* @__PURE__ */ plainError(${[space, name, fault].join()});`;
  });
  const [first = ''] = short.split('\n', 1);
  return short === source ? source : `${first}\n${PLAIN_ERROR_CLASS}${short.slice(first.length)}`;
}

/** Of a package.json that is bundled, what is read of it: its name and version. */
function shortenPackage(source: string): string {
  const { name, version } = JSON.parse(source) as {
    readonly name: string;
    readonly version: string;
  };
  return JSON.stringify({ name, version });
}

/** The same modules in fewer bytes. */
const shortened: Plugin = {
  name: 'shortened',
  setup: (bundler) => {
    bundler.onLoad({ filter: /[\\/]package\.json$/ }, async ({ path: file }) => ({
      contents: shortenPackage(await readFile(file, 'utf8')),
      loader: 'json',
    }));
    bundler.onLoad(
      { filter: /[\\/]dist-es[\\/]models[\\/]errors\.js$/ },
      async ({ path: file }) => ({
        contents: shortenErrors(await readFile(file, 'utf8')),
      }),
    );
  },
};

/** For the build of the functions, and no other. */
export const functionPlugins: readonly Plugin[] = [replacements, shortened, builtinsByNeed];
