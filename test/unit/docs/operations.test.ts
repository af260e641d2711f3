/**
 * The run-book beside the alarms that are deployed: whoever is called finds what to do, and nothing is described
 * that does not exist.
 */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';

const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../../..');
const PREFIX = /AlarmName: rollcall-\$\{sls:stage\}-([a-z-]+)/g;

function deployedAlarms(): readonly string[] {
  const files = globSync('infra/alarms/*.yml', { cwd: ROOT });
  return files.flatMap((file) =>
    [...readFileSync(path.join(ROOT, file), 'utf8').matchAll(PREFIX)].map(([, name = '']) => name),
  );
}

function describedAlarms(): readonly string[] {
  const text = readFileSync(path.join(ROOT, 'docs/operations.md'), 'utf8');
  const [, section = ''] = /### By alarm\n([\s\S]*?)\n### /.exec(text) ?? [];
  const firstCells = [...section.matchAll(/^\| (`[^|]*) \|/gm)].map(([, cell = '']) => cell);
  return firstCells.flatMap((cell) =>
    [...cell.matchAll(/`([a-z-]+)`/g)].map(([, name = '']) => name),
  );
}

it('the run-book says what to do about every alarm, and about no other', () => {
  const deployed = deployedAlarms();
  assert.ok(deployed.length > 15, 'the alarms were not found');
  assert.deepEqual(describedAlarms().toSorted(), deployed.toSorted());
});

it('the run-book says how long messages wait for a place, as the queues do (F4)', () => {
  const text = readFileSync(path.join(ROOT, 'docs/operations.md'), 'utf8');
  const queues = readFileSync(path.join(ROOT, 'infra/queues.yml'), 'utf8');
  const service = readFileSync(path.join(ROOT, 'serverless.yml'), 'utf8');
  assert.match(service, /reconcileReceives: 100\n/);
  const products = [
    ...queues.matchAll(/VisibilityTimeout: (\d+)[\s\S]*?maxReceiveCount: (\S+)/g),
  ].map(
    ([, lease = '', receives = '']) =>
      `${(receives.startsWith('$') ? 100 : Number(receives)).toLocaleString('en-US')} × ${lease} s`,
  );
  assert.equal(products.length, 4);
  for (const product of products) assert.ok(text.includes(product), product);
});
