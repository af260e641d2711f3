// Bundles src/cli/rollcall.ts into dist/cli: rollcall.mjs, which says which Node it needs, and program.mjs with everything from
// node_modules inside, because Node strips no types below node_modules, where an installed package's bin lies.
//
// It reads templates under infra/ at run time, two directories up, as the unbuilt command does. sources.json names what it was
// made of, and is as old as the begin of the build: scripts/rollcall.mjs builds again where one of them is newer.
import { chmod, copyFile, mkdir, rename, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { build } from 'esbuild';
import { repositoryRoot as root } from '../lib/run-tool.ts';
import { leaveOutClients } from './cli-plugins.ts';
import { NODE_BUNDLE, REQUIRE_BANNER } from './bundles.ts';

const directory = path.join(root, 'dist/cli');
const at = (name: string): string => path.join(directory, name);
const begunAt = new Date();

const { metafile, outputFiles } = await build({
  ...NODE_BUNDLE,
  entryPoints: ['src/cli/rollcall.ts'],
  outfile: at('program.mjs'),
  write: false,
  target: 'node22',
  banner: REQUIRE_BANNER,
  plugins: [leaveOutClients],
});
const [output] = outputFiles;
if (output === undefined) throw new Error('the bundler made nothing');

/** Whole at once: another build, or a command that starts, may be under way. */
async function place(name: string, write: (file: string) => Promise<void>): Promise<void> {
  const unfinished = at(`${name}.${String(process.pid)}`);
  await write(unfinished);
  await rename(unfinished, at(name));
}

await mkdir(directory, { recursive: true });
await place('program.mjs', (file) => writeFile(file, output.contents));
await place('rollcall.mjs', async (file) => {
  await copyFile(path.join(import.meta.dirname, 'command-entry.mjs'), file);
  await chmod(file, 0o755);
});
const entry = path.relative(root, path.join(import.meta.dirname, 'command-entry.mjs'));
await place('sources.json', async (file) => {
  // The lockfile stands for what is installed; what a plugin puts in place of a module is no file.
  const ours = Object.keys(metafile.inputs).filter(
    (source) => !source.startsWith('node_modules/') && !source.startsWith('left-out:'),
  );
  await writeFile(file, JSON.stringify([entry, 'package-lock.json', ...ours]));
  await utimes(file, begunAt, begunAt);
});
const kib = Math.round(output.contents.byteLength / 1024);
process.stdout.write(`${path.relative(root, at('program.mjs'))}: ${String(kib)} KB\n`);
