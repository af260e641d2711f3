/** Coverage as it is counted, held against days of a simulated cluster in which everything happens that makes it untrue. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { mergeDays, allDays } from '../../src/core/coverage/kept-days.ts';
import type { CoverageDays } from '../../src/core/coverage/kept-days.ts';
import { daysOfTraces } from '../../src/core/coverage/trace.ts';
import type { LogItem } from '../../src/core/model/log-entry.ts';
import { CoverageScene } from '../support/coverage-scene.ts';

const SEEDS = [1, 2, 3];
/** A change is told a second late, and counted in whole seconds; nodes that wait for their pods likewise. */
const LATE_SECONDS = 4;

describe('coverage', () => {
  for (const seed of SEEDS) {
    it(`S20: is what really was, by day, and what the log says, over changes, silences and stops (seed ${String(seed)})`, async () => {
      const scene = new CoverageScene(seed);
      await scene.begin();
      await scene.play(50);
      const counted = await countedDays(scene);
      assert.deepEqual(sorted(await daysOfLog(scene)), sorted(counted));
      const slack = LATE_SECONDS * scene.changes * 2;
      for (const [day, [served, unserved, unknown]] of scene.truth.days) {
        const row = counted.get(day) ?? [];
        const isLast = day === Math.max(...scene.truth.days.keys());
        const compared = [served, unserved, unknown].map((each) => Math.round(each / 1000));
        for (const [column, truth] of compared.entries()) {
          const found = row[column] ?? 0;
          // Until the last write nothing is counted of the last day.
          if (isLast ? found > truth + slack : Math.abs(found - truth) > slack) {
            assert.fail(
              `day ${String(day)}: ${JSON.stringify(row)}, truly ${JSON.stringify(compared)}`,
            );
          }
        }
      }
    });
  }
});

type Days = ReadonlyMap<number, readonly number[]>;

function sorted(days: Days): readonly unknown[] {
  return [...days]
    .filter(([, row]) => row.some((each) => each > 0))
    .sort(([left], [right]) => left - right);
}

async function daysOfLog(scene: CoverageScene): Promise<Days> {
  const traces = Object.entries(scene.world.view.dump()).flatMap(([key, item]) =>
    key.startsWith('LOG ') ? ((item as LogItem).coverage ?? []) : [],
  );
  const standing = (await scene.state)?.log?.coverage;
  const days = daysOfTraces([...traces, ...(standing === undefined ? [] : [standing])]);
  assert.ok(days);
  return mergeDays([{ namespace: '', name: '', uid: '', ...allDays(days) }]);
}

async function countedDays(scene: CoverageScene): Promise<Days> {
  const state = await scene.state;
  assert.ok(state?.coverage);
  const items = Object.entries(scene.world.view.dump()).flatMap(([key, item]) =>
    key.startsWith('COVERAGE ') ? [item as CoverageDays] : [],
  );
  const uid = scene.world.daemonSet.metadata.uid;
  return mergeDays([
    ...items,
    { namespace: 'system', name: 'agents', uid, ...allDays(state.coverage.days) },
  ]);
}
