/**
 * `npm run build:npm`: the folder dist/npm that is published as the package `rollcall`, from sources and node_modules alone.
 *
 * Everything from node_modules is bundled, because Node strips no types below node_modules; so the package has no
 * dependencies, and installs without a network. Other files lie in it as in the repository: src/engine/package-files.ts
 * finds both.
 */
import { chmod, cp, glob, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { build } from 'esbuild';
import packageJson from '../../package.json' with { type: 'json' };
import { writeSchemas } from '../lib/policy-json-schema.ts';
import { repositoryRoot as root } from '../lib/run-tool.ts';
import { leaveOutClients } from './cli-plugins.ts';
import { NODE_BUNDLE, REQUIRE_BANNER } from './bundles.ts';
import { collectNotices } from './notices.ts';
import { makePage } from './page-bundle.ts';

/** A first argument replaces it: for the test of the package, which runs beside others. */
const target = path.resolve(root, process.argv[2] ?? 'dist/npm');
const BUNDLES = 'dist/cli';
const PAGE = 'dist/page';
const COPIED = [
  'LICENSE',
  'README.md',
  'CHANGELOG.md',
  'serverless.yml',
  'infra',
  'examples',
  'docs/reference/openapi.json',
];
/** Has all that the bundle calls (`zstdCompressSync`); command-entry.mjs says so to an older one. */
const NODE_OLDEST = '22.15';
/** Where the image stands: command line and chart take it from here. */
const DEPLOYMENT = 'infra/watcher/deployment.yaml';

async function bundle(): Promise<readonly string[]> {
  const { metafile } = await build({
    ...NODE_BUNDLE,
    entryPoints: {
      program: 'src/cli/packaged.ts',
      'cluster-thread-entry': 'packages/local-cluster/src/cluster/cluster-thread-entry.ts',
    },
    outdir: path.join(target, BUNDLES),
    outExtension: { '.js': '.mjs' },
    splitting: true,
    target: `node${NODE_OLDEST}`,
    banner: REQUIRE_BANNER,
    plugins: [leaveOutClients],
  });
  return Object.keys(metafile.inputs);
}

/** What is published says less than the repository's own: nothing to install, nothing to run but the command. */
function manifest(): object {
  const { name, version, description, keywords, license } = packageJson;
  const command = `${BUNDLES}/rollcall.mjs`;
  return {
    name,
    version,
    description,
    keywords,
    type: 'module',
    license,
    engines: { node: `>=${NODE_OLDEST}` },
    bin: { rollcall: command, 'kubectl-rollcall': command },
    exports: { './package.json': './package.json' },
  };
}

/** A release says here what the command line, the kustomizations and the chart take for the watcher's image. */
async function nameImage(reference: string | undefined): Promise<void> {
  if (reference === undefined || reference === '') return;
  const deployment = await readFile(path.join(root, DEPLOYMENT), 'utf8');
  const [, shipped] = /^ *image: (\S+)$/m.exec(deployment) ?? [];
  if (shipped === undefined) throw new Error(`${DEPLOYMENT} names no image`);
  const infra = path.join(target, 'infra');
  for await (const name of glob('**/*.yaml', { cwd: infra })) {
    const file = path.join(infra, name);
    const text = await readFile(file, 'utf8');
    await writeFile(file, text.replaceAll(shipped, reference));
  }
}

await rm(target, { recursive: true, force: true });
await mkdir(target, { recursive: true });
const inputs = await bundle();
const page = await makePage();
await mkdir(path.join(target, PAGE), { recursive: true });
for (const [name, contents] of page.files) {
  await writeFile(path.join(target, PAGE, name), contents);
}
for (const name of COPIED) {
  await cp(path.join(root, name), path.join(target, name), { recursive: true });
}
await writeSchemas(target);
await nameImage(process.env['ROLLCALL_RELEASE_IMAGE']);
const notices = await collectNotices(root, [...inputs, ...page.inputs]);
await writeFile(path.join(target, 'THIRD-PARTY-NOTICES.txt'), notices);
await writeFile(path.join(target, 'package.json'), `${JSON.stringify(manifest(), null, 2)}\n`);
const command = path.join(target, BUNDLES, 'rollcall.mjs');
await cp(path.join(import.meta.dirname, 'command-entry.mjs'), command);
await chmod(command, 0o755);
const program = path.join(target, BUNDLES, 'program.mjs');
const bytes = (await readFile(program)).length;
process.stdout.write(`${path.relative(root, program)}: ${String(Math.ceil(bytes / 1024))} KB\n`);
