/** The fleet's block of the live table, and the nodes that a release touched. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { FleetClusterLine } from '../../../../../src/app/fleet/rollout/list-clusters.ts';
import { TouchedNodes, renderFleet } from '../../../../../src/cli/start/fleet/fleet-play.ts';
import { clusterId } from '../../../../../src/core/model/identifiers.ts';
import { fleetRecordOf } from '../../../../support/fleet-records.ts';
import { cluster, daemonSet } from '../fixtures.ts';

const NOW_MS = 1_800_000_000_000;
const AGENT = { namespace: 'monitoring', name: 'agent' };

function line(id: string, place: string, phase: FleetClusterLine['phase']): FleetClusterLine {
  return { cluster: clusterId(id), place, phase };
}

describe('the block of a fleet', () => {
  it('shows stages, what it waits for and for how long, and a line for each cluster', () => {
    const gate = { kind: 'soaking', untilMs: NOW_MS + 7500 } as const;
    const lines = renderFleet({
      record: fleetRecordOf({ gate }),
      clusters: [line('a', 'canary', 'well'), line('b', 'early', 'waiting')],
      overviews: ['a', 'b', 'c'].map((id) => ({
        ...cluster({ daemonSets: [daemonSet({ ...AGENT, desired: 6, ready: 5, upToDate: 3 })] }),
        cluster: id,
      })),
      nowMs: NOW_MS,
    });
    const text = lines.join('\n');
    assert.match(text, /^fleet monitoring\/agent {2}generation 2 {2}Progressing/);
    assert.match(text, /soaks until .*, 8 s left$/m);
    assert.match(text, /^ {2}canary +open +1 +0 +1 +0 +0 +-$/m);
    assert.match(text, /^ {2}early +waits +1 +0 +0 +0 +1 +-$/m);
    assert.match(text, /^a +canary +well +6 +5 +3$/m);
    assert.match(text, /^b +early +waiting +6 +5 +3$/m);
    assert.match(text, /^c +- +- +6 +5 +3$/m);
  });

  it('says of a failed cluster why, without what steers a terminal', () => {
    const failure = {
      cause: 'Halted/Restarts',
      message: 'pods\u001b[2J crash',
      atMs: 1,
      nodes: [],
    } as const;
    const lines = renderFleet({
      record: fleetRecordOf({ gate: { kind: 'breach' } }),
      clusters: [{ ...line('a', 'canary', 'failed'), failure }],
      overviews: [{ ...cluster({ daemonSets: [] }), cluster: 'a' }],
      nowMs: NOW_MS,
    });
    assert.match(
      lines.join('\n'),
      /^a +canary +failed +- +- +- +Halted\/Restarts: pods \[2J crash$/m,
    );
  });
});

describe('nodes that a release touched', () => {
  it('are the most that was seen of the generation that the cluster was given, and none on its way back', () => {
    const touched = new TouchedNodes(AGENT);
    const look = (
      phase: FleetClusterLine['phase'],
      seen: {
        readonly generation: number;
        readonly observedGeneration: number;
        readonly upToDate: number;
      },
    ): void => {
      const shown = [
        { ...cluster({ daemonSets: [daemonSet({ ...AGENT, ...seen })] }), cluster: 'a' },
      ];
      touched.note(shown, [line('a', 'canary', phase)]);
    };
    look('waiting', { generation: 1, observedGeneration: 1, upToDate: 24 });
    assert.deepEqual(touched.counts(), {});
    look('rolling', { generation: 2, observedGeneration: 1, upToDate: 24 });
    assert.deepEqual(touched.counts(), { a: 0 }, 'that status is of before');
    look('rolling', { generation: 2, observedGeneration: 2, upToDate: 3 });
    look('failed', { generation: 2, observedGeneration: 2, upToDate: 2 });
    look('returning', { generation: 3, observedGeneration: 3, upToDate: 24 });
    assert.deepEqual(touched.counts(), { a: 3 });
  });
});
