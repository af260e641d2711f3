/**
 * `npm run bench -- cold-start [--json]`: what importing each function's bundle costs, beside an empty module.
 *
 * A cold start of Lambda is: fetch the zip, start Node, import the bundle, run. Only the import is ours to keep short,
 * and only it is measured: the time of one dynamic import inside a fresh process, as it is built for deployment (the
 * build runs first). Ten rounds; in each the empty module and every bundle once, so that a busy moment of the machine
 * falls on all of them; medians of ten, after one round that only warms the files. Clients connect later, at the first
 * call, which is not in these figures. Leaves with 1 when a bundle costs more than its goal over the empty module.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { bundleFileOf, findFunctionNames } from '../../scripts/build/bundles.ts';
import { repositoryRoot } from '../../scripts/lib/run-tool.ts';
import { percentile, renderRows } from './support/statistics.ts';

const ROUNDS = 10;
const OVER_EMPTY_MS_MAX = 60;
const BYTES_PER_KIB = 1024;
const EMPTY = 'empty module';

/** Says how long an import took, in milliseconds, and nothing else. */
const PROGRAM = `
const { performance } = await import('node:perf_hooks');
const beganMs = performance.now();
await import(process.argv[1]);
console.log(performance.now() - beganMs);
`;

interface Measured {
  readonly name: string;
  readonly file: string;
  readonly kib: number;
  readonly importsMs: number[];
}

interface Figure {
  readonly name: string;
  readonly kib: number;
  readonly medianMs: number;
  readonly leastMs: number;
  readonly mostMs: number;
  /** Median over that of the empty module. */
  readonly overEmptyMs: number;
}

const run = promisify(execFile);

async function importMs(file: string): Promise<number> {
  const parameters = ['--input-type=module', '-e', PROGRAM, pathToFileURL(file).href];
  const { stdout } = await run(process.execPath, parameters, { cwd: tmpdir() });
  const elapsedMs = Number(stdout.trim());
  if (!Number.isFinite(elapsedMs)) throw new Error(`${file} says ${stdout}`);
  return elapsedMs;
}

function toMeasure(name: string, file: string): Measured {
  return { name, file, kib: statSync(file).size / BYTES_PER_KIB, importsMs: [] };
}

async function measure(emptyFile: string): Promise<readonly Measured[]> {
  const names = await findFunctionNames(repositoryRoot);
  const all = [
    toMeasure(EMPTY, emptyFile),
    ...names.map((name) => toMeasure(name, path.join(repositoryRoot, bundleFileOf(name)))),
  ];
  for (const { file } of all) await importMs(file);
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const one of all) one.importsMs.push(await importMs(one.file));
  }
  return all;
}

function toFigures(all: readonly Measured[]): readonly Figure[] {
  const emptyMs = percentile(all.find(({ name }) => name === EMPTY)?.importsMs ?? [], 50);
  return all.map(({ name, kib, importsMs }) => {
    const medianMs = percentile(importsMs, 50);
    return {
      name,
      kib: Math.round(kib),
      medianMs,
      leastMs: Math.min(...importsMs),
      mostMs: Math.max(...importsMs),
      overEmptyMs: medianMs - emptyMs,
    };
  });
}

function renderFigures(figures: readonly Figure[]): string {
  const milliseconds = (value: number): string => value.toFixed(1);
  return renderRows([
    ['function', 'KB', 'import ms', 'least', 'most', 'over empty'],
    ...figures.map(({ name, kib, medianMs, leastMs, mostMs, overEmptyMs }) => [
      name,
      String(kib),
      milliseconds(medianMs),
      milliseconds(leastMs),
      milliseconds(mostMs),
      name === EMPTY ? '' : milliseconds(overEmptyMs),
    ]),
  ]);
}

const isJson = process.argv.includes('--json');
const directory = mkdtempSync(path.join(tmpdir(), 'rollcall-cold-start-'));
try {
  await run(process.execPath, ['scripts/build/build-functions.ts'], { cwd: repositoryRoot });
  const emptyFile = path.join(directory, 'empty.mjs');
  writeFileSync(emptyFile, 'export {};\n');
  const figures = toFigures(await measure(emptyFile));
  const slow = figures.filter(({ overEmptyMs }) => overEmptyMs > OVER_EMPTY_MS_MAX);
  if (isJson) {
    const document = { rounds: ROUNDS, overEmptyMsMax: OVER_EMPTY_MS_MAX, figures };
    process.stdout.write(`${JSON.stringify(document, undefined, 2)}\n`);
  } else {
    process.stdout.write(`${renderFigures(figures)}\n`);
  }
  for (const { name, overEmptyMs } of slow) {
    const over = `${overEmptyMs.toFixed(1)} ms more than the empty module`;
    console.error(`rollcall: ${name} costs ${over}; the goal is ${String(OVER_EMPTY_MS_MAX)} ms`);
  }
  if (slow.length > 0) process.exitCode = 1;
} finally {
  rmSync(directory, { recursive: true, force: true });
}
