/** The live table: the columns of kubectl, and a note where something waits. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nodeName } from '../../../../src/core/model/identifiers.ts';
import { renderTable } from '../../../../src/cli/start/table.ts';
import type { RolloutPhase } from '../../../../src/core/rollout/gate-words.ts';
import type { DaemonSetOverview } from '../../../../src/engine/overview.ts';
import { evidenceOf } from '../../../../src/core/rollout/shown-evidence.ts';
import { STARTED_MS, recordOf } from '../../../support/rollout-records.ts';
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

  it('notes that no node is eligible, and how many had a pod some minutes ago', () => {
    const none = {
      desired: 0,
      codes: { NotWanted: 12 },
      seen: { nodes: 12, formerNodes: 9, otherTemplateNodes: 0 },
    };
    const noteOf = (changes: Partial<DaemonSetOverview>): string =>
      renderTable(cluster({ daemonSets: [daemonSet({ ...none, ...changes })] })).at(-1) ?? '';
    assert.match(noteOf({}), / 0 of 12 nodes are eligible, 9 before$/);
    assert.doesNotMatch(noteOf({ observedGeneration: 0 }), /eligible/);
  });

  it('says who froze the stack, a cluster or a DaemonSet, and why', () => {
    const note = { by: 'ann', why: 'bad kernel', atMs: 1 };
    const isFrozen = true;
    const [stack = ''] = renderTable(cluster({ isFrozen, frozen: { scope: 'stack', note } }));
    assert.match(stack, /FROZEN with the whole stack by ann \(bad kernel\)/);
    const [own = ''] = renderTable(cluster({ isFrozen, frozen: { scope: 'cluster' } }));
    assert.match(own, /FROZEN  view/);
    const frozen = { scope: 'daemon-set', note: { ...note, why: '' } } as const;
    const lines = renderTable(cluster({ daemonSets: [daemonSet({ frozen })] }));
    assert.match(lines.join('\n'), /FROZEN by ann$/m);
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
          evidence: evidenceOf(recordOf()),
        },
      });
    const daemonSets = [rollout('Halted'), daemonSet({ name: 'other' })];
    const lines = renderTable(cluster({ daemonSets }));
    assert.equal(lines[3], '  Halted: canary  of 3 nodes');
    assert.match(lines[4] ?? '', /other/);
    assert.equal(renderTable(cluster({ daemonSets: [rollout('Done')] })).length, 3);
  });

  it('says below it who uses the budget, who is ahead, and how blind the test is', () => {
    const evidence = evidenceOf(
      recordOf({ trial: { ...recordOf().trial, isWithoutControls: true } }),
    );
    const budget = {
      ...{ unavailableNodes: 1, unavailableNodesMax: 3, surgingNodes: 0, surgeNodesMax: 0 },
      ...{ waitingNodes: 4, freeNodes: 2 },
      users: [{ node: nodeName('n1'), code: 'NotReady' as const, message: '' }],
    };
    const rollout = {
      ...{
        phase: 'Progressing' as const,
        summary: 'canary',
        revision: 'r',
        evidence,
        budget,
      },
      gate: { kind: 'settling' as const },
      strays: [nodeName('n3')],
    };
    const held = { token: 'x', heldAtMs: 1, pods: 9, basePods: 9, cause: 'n1 lost a label' };
    const author = { manager: 'cleaner', atMs: STARTED_MS };
    const shown = daemonSet({ rollout, removal: { ...held, author } });
    const text = renderTable(cluster({ daemonSets: [shown] })).join('\n');
    assert.match(text, /budget: 1 of 3 unavailable, 2 free; used by n1 \(NotReady\); 4 nodes wait/);
    assert.match(text, /strays: 1 ahead of their step, watched as canaries: n3/);
    assert.match(text, /evidence: an updated node was lost where no other is left .* for nothing/);
    assert.match(text, /! 9 of 9 pods go .*: n1 lost a label; last written by cleaner at 2026-/);
    assert.doesNotMatch(renderTable(cluster()).join('\n'), /budget|evidence/);
  });

  it('says that there are none', () => {
    assert.match(renderTable(cluster({ daemonSets: [] })).at(-1) ?? '', /no DaemonSets/);
  });
});
