// The watcher as one file that runs on Node 24 with nothing beside it.
//
// The SDK's default credential chain (environment, web identity, Pod Identity) is in it, its lazy imports inlined, so
// that a container needs no node_modules; test/integration/watcher/bundle.test.ts proves each. No source map: the
// image holds one file, and a stack trace of it names functions, not lines. Of Node's builtins it takes what it names, as
// the functions do (ADR 0001): their face as ES modules loads fetch, HTTP/2 and web streams, 4 MiB that nothing uses here.
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { build } from 'esbuild';
import { builtinsByNeed } from './function-plugins.ts';
import { NODE_BUNDLE } from './bundles.ts';

/** Bundles src/watcher/main.ts of the repository at `root` into `outfile`; resolves to its size, and the files that are in it. */
export async function bundleWatcher(
  root: string,
  outfile: string,
): Promise<{ bytes: number; inputs: readonly string[] }> {
  await mkdir(path.dirname(outfile), { recursive: true });
  const { metafile } = await build({
    ...NODE_BUNDLE,
    absWorkingDir: root,
    entryPoints: ['src/watcher/main.ts'],
    outfile,
    target: 'node24',
    plugins: [builtinsByNeed],
  });
  const [output] = Object.values(metafile.outputs);
  return { bytes: output?.bytes ?? 0, inputs: Object.keys(output?.inputs ?? {}) };
}
