/** What all bundles for Node have in common: ES modules, minified, with everything from node_modules inside. */
import { repositoryRoot } from '../lib/run-tool.ts';

/** Options for esbuild; entries, places and the oldest Node are each bundle's own. ES modules are a third smaller than CommonJS. */
export const NODE_BUNDLE = {
  absWorkingDir: repositoryRoot,
  bundle: true,
  format: 'esm' as const,
  platform: 'node' as const,
  mainFields: ['module', 'main'],
  minify: true,
  legalComments: 'none' as const,
  logLevel: 'warning' as const,
  metafile: true as const,
};

/** For a bundle with parts that come as CommonJS (`yaml`), and require what Node has. */
export const REQUIRE_BANNER = {
  js: [
    "import { createRequire as $createRequire } from 'node:module';",
    'const require = $createRequire(import.meta.url), __dirname = import.meta.dirname;',
  ].join(''),
};
