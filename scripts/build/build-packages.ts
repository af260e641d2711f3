/**
 * `npm run build:packages`: the folders dist/packages/* that are published as `@rollcall/local-cluster` and `@rollcall/local-aws`.
 *
 * Each is bundled into a command and an entry for programs, because Node strips no types below node_modules; so a package has
 * no dependencies and installs without a network. Types of the entries are not published yet: the READMEs say so.
 */
import { chmod, cp, mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { build } from 'esbuild';
import localAws from '../../packages/local-aws/package.json' with { type: 'json' };
import localCluster from '../../packages/local-cluster/package.json' with { type: 'json' };
import { repositoryRoot as root } from '../lib/run-tool.ts';
import { NODE_BUNDLE, REQUIRE_BANNER } from './bundles.ts';
import { collectNotices } from './notices.ts';

interface Source {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly license: string;
}

/** A first argument replaces it: for the test of the packages, which runs beside others. */
const target = path.resolve(root, process.argv[2] ?? 'dist/packages');
/** The oldest Node whose builtins have all that the bundles call (`Promise.withResolvers`). */
const NODE_OLDEST_MAJOR = 22;

async function bundle(folder: string, into: string): Promise<readonly string[]> {
  const { metafile } = await build({
    ...NODE_BUNDLE,
    entryPoints: {
      index: `packages/${folder}/src/index.ts`,
      command: `packages/${folder}/src/command/main.ts`,
    },
    outdir: into,
    outExtension: { '.js': '.mjs' },
    splitting: true,
    target: `node${NODE_OLDEST_MAJOR}`,
    banner: REQUIRE_BANNER,
  });
  return Object.keys(metafile.inputs);
}

async function buildPackage(folder: string, source: Source): Promise<void> {
  const { name, version, description, license } = source;
  const into = path.join(target, folder);
  await rm(into, { recursive: true, force: true });
  await mkdir(into, { recursive: true });
  const inputs = await bundle(folder, path.join(into, 'dist'));
  await chmod(path.join(into, 'dist/command.mjs'), 0o755);
  const manifest = {
    ...{ name, version, description, type: 'module', license },
    engines: { node: `>=${NODE_OLDEST_MAJOR}` },
    bin: { [folder]: 'dist/command.mjs' },
    exports: { '.': './dist/index.mjs', './package.json': './package.json' },
  };
  await writeFile(path.join(into, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  await writeFile(path.join(into, 'THIRD-PARTY-NOTICES.txt'), await collectNotices(root, inputs));
  await cp(path.join(root, 'LICENSE'), path.join(into, 'LICENSE'));
  await cp(path.join(root, 'packages', folder, 'README.md'), path.join(into, 'README.md'));
  process.stdout.write(`${path.relative(root, into)}\n`);
}

await buildPackage('local-cluster', localCluster);
await buildPackage('local-aws', localAws);
