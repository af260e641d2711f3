/**
 * Draws claims at random from the documents that promise something, for a person to hold against the tests.
 *
 *   node scripts/launch.mjs scripts/draw-claims.ts [--seed N] [--count 60] [--json]
 *
 * A claim is a row of a table, an item of a list or a sentence of prose. The seed is printed and repeats the draw as long as the
 * documents are the same. It judges nothing: that a claim has a test that plays it is read by people.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { claimsOf, drawClaims } from './lib/claims.ts';
import { repositoryRoot } from './lib/run-tool.ts';

const DOCUMENTS = [
  'docs/promise.md',
  'docs/parity.md',
  'docs/spec/parity-rules.md',
  'docs/security.md',
  'docs/benchmarks.md',
];

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    count: { type: 'string', default: '60' },
    json: { type: 'boolean', default: false },
  },
});
const [seed, count] = [Number(values.seed), Number(values.count)];
if (!Number.isSafeInteger(seed) || !Number.isSafeInteger(count) || count < 1) {
  process.stderr.write('rollcall: --seed and --count are whole numbers, --count at least 1\n');
  process.exit(2);
}
const claims = DOCUMENTS.flatMap((file) =>
  claimsOf(file, readFileSync(path.join(repositoryRoot, file), 'utf8')),
);
const drawn = drawClaims(claims, { seed, count });
if (values.json) {
  process.stdout.write(`${JSON.stringify({ seed, of: claims.length, drawn }, undefined, 2)}\n`);
} else {
  process.stdout.write(`${drawn.length} of ${claims.length} claims, --seed ${seed}\n`);
  for (const { file, line, text } of drawn) process.stdout.write(`\n${file}:${line}\n  ${text}\n`);
}
