/**
 * Tables against what kube-apiserver v1.36.3 answered for the same objects (recorded-tables.json).
 *
 * Ages are taken at the recorded time; young ones, which were counting seconds while they were recorded, are not compared.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import type { ApiObject, LivingName } from '../../../src/objects/api-object.ts';
import { TABLES } from '../../../src/tables/all.ts';
import type { Cell, Column } from '../../../src/tables/table.ts';

interface RecordedTable {
  readonly recordedAt: string;
  readonly columns: readonly Omit<Column, 'description'>[];
  readonly rows: readonly {
    readonly cells: readonly Cell[];
    readonly conditions?: readonly object[];
    readonly object: ApiObject;
  }[];
}

const recorded = JSON.parse(
  readFileSync(path.join(import.meta.dirname, 'recorded-tables.json'), 'utf8'),
) as Readonly<Record<LivingName, RecordedTable>>;

const TIME_COLUMNS = new Set(['Age', 'Last Seen', 'First Seen']);

function withoutYoungAges(cells: readonly Cell[], columns: RecordedTable['columns']): Cell[] {
  return cells.map((cell, index) =>
    TIME_COLUMNS.has(columns[index]?.name ?? '') && /^(?:\d+s|\dm(?:\d+s)?)$/.test(String(cell))
      ? 'young'
      : cell,
  );
}

test('every resource with rules of its own has a table, and every table was recorded', () => {
  assert.deepEqual([...TABLES.keys()].toSorted(), Object.keys(recorded).toSorted());
});

for (const [resource, shape] of TABLES) {
  const table = recorded[resource as LivingName];
  const nowMs = Date.parse(table.recordedAt);
  describe(`the table of ${resource}`, () => {
    test('has the columns of the original', () => {
      assert.deepEqual(
        shape.columns.map(({ description: _, ...column }) => column),
        table.columns,
      );
    });
    for (const { cells, conditions, object } of table.rows) {
      test(`shows ${object.metadata.name} as ${cells.join(' ')}`, () => {
        assert.deepEqual(
          withoutYoungAges(shape.cells(object, nowMs), table.columns),
          withoutYoungAges(cells, table.columns),
        );
        assert.deepEqual(shape.rowConditions?.(object), conditions);
      });
    }
  });
}
