/** The nodes that a release touched. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { FleetClusterLine } from '../../../../src/app/fleet/rollout/list-clusters.ts';
import { TouchedNodes } from '../../../../src/cli/start/fleet-play.ts';
import { clusterId } from '../../../../src/core/model/identifiers.ts';
import { cluster, daemonSet } from './fixtures.ts';

const AGENT = { namespace: 'monitoring', name: 'agent' };

function line(id: string, place: string, phase: FleetClusterLine['phase']): FleetClusterLine {
  return { cluster: clusterId(id), place, phase };
}

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
