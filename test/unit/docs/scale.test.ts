/** Quotas that docs/scale.md promises, beside the file of quotas: one is not changed without the other (F13). */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';

interface Quotas {
  readonly fifoMessagesPerSecond: Readonly<Record<string, number>>;
  readonly fifoRequestsPerSecondOfAGroup: number;
  readonly oidcProvidersPerAccount: number;
  readonly rolesPerAccount: number;
  readonly lambdaConcurrency: number;
  readonly dynamoDbUnitsPerTable: number;
}

const read = (path: string): string =>
  readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');
const QUOTAS = JSON.parse(read('test/support/aws-quotas.json')) as Quotas;
const scale = read('docs/scale.md');
const number = (text: string): number => Number(text.replaceAll(',', ''));

/** Figures of the table of regions. */
function fifoByRegion(text: string): Readonly<Record<string, number>> {
  const [, section = ''] = /### Quotas by region\n([\s\S]*?)\n## /.exec(text) ?? [];
  const rows = [...section.matchAll(/^\| ([a-z0-9, -]+) \| ([\d,]+) \|$/gm)];
  return Object.fromEntries(
    rows.flatMap(([, regions = '', figure = '']) =>
      regions.split(', ').map((region) => [region, number(figure)]),
    ),
  );
}

/** A row of any table, by its first cell. */
function rowOf(name: string): string {
  return scale.split('\n').find((line) => line.startsWith(`| ${name}`)) ?? '';
}

describe('quotas of AWS in docs/scale.md (F13)', () => {
  it('name the throughput of FIFO queues for each region, with what every other has', () => {
    assert.deepEqual(fifoByRegion(scale), QUOTAS.fifoMessagesPerSecond);
    const wrong = scale.replace('| 2,400 |', '| 19,000 |');
    assert.notDeepEqual(fifoByRegion(wrong), QUOTAS.fifoMessagesPerSecond);
  });

  it('are those of the file, wherever else one is named', () => {
    assert.match(rowOf('events.fifo'), new RegExp(`${QUOTAS.fifoRequestsPerSecondOfAGroup}/s for`));
    for (const [row, quota] of [
      ['OIDC providers |', QUOTAS.oidcProvidersPerAccount],
      ['roles', QUOTAS.rolesPerAccount],
    ] as const) {
      const [, figure = ''] = /([\d,]+) an account/.exec(rowOf(row)) ?? [];
      assert.equal(number(figure), quota, row);
    }
    const [, lambda = ''] = /\(([\d,]+); new/.exec(rowOf('Lambda concurrency')) ?? [];
    assert.equal(number(lambda), QUOTAS.lambdaConcurrency);
    const [, units = ''] = /DynamoDB ([\d,]+) units/.exec(rowOf('DynamoDB')) ?? [];
    assert.equal(number(units), QUOTAS.dynamoDbUnitsPerTable);
  });
});
