// What a verdict makes of a cluster's record, and when somebody who takes a release back is left alone.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fleetRenderer, type Rendering } from '../../../../../src/core/fleet/render-fleet.ts';
import type { FleetClusterRecord } from '../../../../../src/core/fleet/rollout/fleet-record.ts';
import { noteVerdict, whyNotGiven } from '../../../../../src/core/fleet/rollout/note-verdict.ts';
import { clusterId } from '../../../../../src/core/model/identifiers.ts';
import { fleetOf, NOW_MS } from '../../../../support/fleet-samples.ts';
import { clusterRecordOf, FAILED, ROLLING, WELL } from '../../../../support/fleet-records.ts';

const REVERTED = { kind: 'reverted', fields: ['spec.template'] } as const;
const MINUTE_MS = 60_000;

/** As a gift leaves it: given the same once more. */
function givenAgain({ reverts, ...record }: FleetClusterRecord): FleetClusterRecord {
  const { isOpen: _answered, ...kept } = reverts ?? { count: 0, sinceMs: 0, by: '' };
  return { ...record, reverts: kept };
}

describe('noteVerdict', () => {
  it('writes nothing for what says nothing', () => {
    const record = clusterRecordOf('c');
    for (const kind of ['gone', 'untouched', 'offline', 'rebuilt', 'awaited', 'unclear'] as const) {
      assert.equal(noteVerdict(record, { kind }, NOW_MS).record, record);
    }
  });

  it('writes counts of nodes at first sight and with what moves, not with every pod', () => {
    const { record } = noteVerdict(clusterRecordOf('c'), ROLLING, NOW_MS);
    assert.deepEqual(record.nodes, { updated: 1, desired: 3 });
    const more = { kind: 'rolling', nodes: { updated: 2, desired: 3 } } as const;
    assert.equal(noteVerdict(record, more, NOW_MS).record, record);
    const { record: well } = noteVerdict(record, WELL, NOW_MS);
    assert.deepEqual([well.phase, well.wellSinceMs, well.nodes?.updated], ['well', NOW_MS, 3]);
    assert.equal(noteVerdict(well, WELL, NOW_MS + 1).record, well);
  });

  it('keeps how many nodes there were of a cluster that was scaled to nothing', () => {
    const rolling = clusterRecordOf('c', { nodes: { updated: 1, desired: 3 } });
    const { record } = noteVerdict(rolling, { kind: 'empty' }, NOW_MS);
    assert.deepEqual([record.phase, record.nodes], ['well', { updated: 0, desired: 3 }]);
    const { record: back } = noteVerdict(record, WELL, NOW_MS);
    assert.deepEqual(back.nodes, { updated: 3, desired: 3 });
  });

  it('lets a failure stand, whatever is seen later', () => {
    const { record } = noteVerdict(clusterRecordOf('c'), FAILED, NOW_MS);
    assert.deepEqual([record.phase, record.failure?.atMs], ['failed', NOW_MS]);
    assert.equal(noteVerdict(record, WELL, NOW_MS + 1).record, record);
    assert.deepEqual(noteVerdict(record, REVERTED, NOW_MS + 1), { record, isToGive: false });
  });

  it('takes a cluster back into its rollout that is not well any more', () => {
    const { record } = noteVerdict(clusterRecordOf('c'), WELL, NOW_MS);
    const { record: again } = noteVerdict(record, ROLLING, NOW_MS + 1);
    assert.deepEqual([again.phase, again.wellSinceMs], ['rolling', undefined]);
  });

  it('gives a cluster that is back its whole policy', () => {
    const record = clusterRecordOf('c', { phase: 'returning', isUngated: true });
    const back = noteVerdict(record, WELL, NOW_MS);
    assert.deepEqual([back.record.phase, back.isToGive], ['returned', true]);
    assert.equal(noteVerdict(record, ROLLING, NOW_MS).isToGive, false);
  });
});

describe('noteVerdict: somebody who takes it back', () => {
  it('is answered twice within ten minutes, and named at the third time', () => {
    let record = clusterRecordOf('c');
    const given: boolean[] = [];
    for (let turn = 0; turn < 3; turn += 1) {
      const noted = noteVerdict(record, REVERTED, NOW_MS + turn * MINUTE_MS);
      given.push(noted.isToGive);
      record = noted.isToGive ? givenAgain(noted.record) : noted.record;
    }
    assert.deepEqual(given, [true, true, false]);
    assert.equal(record.failure?.cause, 'Reverted');
    assert.match(record.failure?.message ?? '', /spec\.template back 3 times/);
  });

  it('is one turn however often it is seen before it is given it again: a pause lasts longer than two looks', () => {
    let { record } = noteVerdict(clusterRecordOf('c'), REVERTED, NOW_MS);
    for (let look = 1; look < 20; look += 1) {
      const noted = noteVerdict(record, REVERTED, NOW_MS + look * 15_000);
      assert.deepEqual([noted.record, noted.isToGive], [record, true]);
      record = noted.record;
    }
    assert.equal(record.reverts?.count, 1);
  });

  it('begins to count anew after ten minutes', () => {
    const { record } = noteVerdict(clusterRecordOf('c'), REVERTED, NOW_MS);
    const later = noteVerdict(givenAgain(record), REVERTED, NOW_MS + 11 * MINUTE_MS);
    assert.equal(later.record.reverts?.count, 1);
  });
});

function render(type?: string): Rendering {
  const strategicMerge = type === undefined ? {} : { spec: { updateStrategy: { type } } };
  const fleet = fleetOf({ overrides: [{ name: 'strategy', strategicMerge }] });
  return fleetRenderer(fleet)({ id: clusterId('c'), labels: {} });
}

describe('whyNotGiven', () => {
  it('keeps RollingUpdate from copilot clusters, where the built-in controller would roll it unstaged', () => {
    assert.equal(whyNotGiven(render(), 'copilot')?.cause, 'PolicyNotFollowed');
    assert.equal(whyNotGiven(render('RollingUpdate'), 'copilot')?.cause, 'PolicyNotFollowed');
    assert.equal(whyNotGiven(render('OnDelete'), 'copilot'), undefined);
    assert.equal(whyNotGiven(render('RollingUpdate'), 'takeover'), undefined);
  });

  it('tells what renders to nothing by its field', () => {
    const problems = [{ field: 'spec.overrides[0]', message: 'leaves no DaemonSet' }] as const;
    assert.deepEqual(whyNotGiven({ kind: 'refused', problems }, 'takeover'), {
      cause: 'Refused',
      message: 'spec.overrides[0]: leaves no DaemonSet',
    });
  });
});
