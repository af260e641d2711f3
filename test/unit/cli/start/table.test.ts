/** The live table: the columns of kubectl, and a note where something waits. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { renderTable } from '../../../../src/cli/start/table.ts';
import type { RolloutPhase } from '../../../../src/core/rollout/gate.ts';
import type { DaemonSetOverview } from '../../../../src/engine/overview.ts';
import { cluster, daemonSet } from './fixtures.ts';

describe('the table', () => {
  it('aligns the columns of kubectl get daemonsets', () => {
    const [, headings = '', row = ''] = renderTable(cluster());
    assert.match(headings, /^NAMESPACE +NAME +DESIRED +CURRENT +READY +UP-TO-DATE +AVAILABLE/);
    assert.equal(headings.indexOf('DESIRED'), row.indexOf('3'));
  });

  it('notes what waits, and leaves out what needs no words', () => {
    const codes = { Running: 2, NotWanted: 4, Refused: 1 };
    const lines = renderTable(cluster({ daemonSets: [daemonSet({ codes, misscheduled: 1 })] }));
    assert.match(lines.at(-1) ?? '', /1 Refused, 1 misscheduled$/);
  });

  it('says why a view is incomplete, and that a cluster is frozen', () => {
    const [headline = ''] = renderTable(cluster({ isViewComplete: false, isFrozen: true }));
    assert.match(headline, /FROZEN/);
    assert.match(headline, /waiting for the first snapshot/);
  });

  it('says how many nodes are Ready, where that is known', () => {
    const [headline = ''] = renderTable(cluster(), { cluster: 'c', total: 12, ready: 11 });
    assert.match(headline, /nodes 12, 11 Ready$/);
    assert.doesNotMatch(renderTable(cluster())[0] ?? '', /nodes/);
  });

  it('has a line for a staged rollout below its DaemonSet, until it is done', () => {
    const rollout = (phase: RolloutPhase): DaemonSetOverview =>
      daemonSet({
        rollout: {
          phase,
          summary: 'canary\u001b of 3 nodes',
          revision: 'r',
          gate: { kind: 'settling' },
        },
      });
    const daemonSets = [rollout('Halted'), daemonSet({ name: 'other' })];
    const lines = renderTable(cluster({ daemonSets }));
    assert.equal(lines[3], '  Halted: canary  of 3 nodes');
    assert.match(lines[4] ?? '', /other/);
    assert.equal(renderTable(cluster({ daemonSets: [rollout('Done')] })).length, 3);
  });

  it('says that there are none', () => {
    assert.match(renderTable(cluster({ daemonSets: [] })).at(-1) ?? '', /no DaemonSets/);
  });
});
