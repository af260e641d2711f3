/** Verdicts gathered by reason, and the table of what each means. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nodeName } from '../../../../src/core/model/identifiers.ts';
import type { Verdict } from '../../../../src/core/model/verdict.ts';
import { groupReasons } from '../../../../src/core/status/reason-groups.ts';
import { REASONS } from '../../../../src/core/status/reasons.ts';

function verdict(node: string, more: Partial<Verdict> = {}): Verdict {
  const message = `Node ${node} has ready pod agent-${node}x.`;
  const eligible = { placement: 'run', reason: { code: 'Eligible' } } as const;
  return { node: nodeName(node), ...eligible, code: 'Running', message, ...more };
}

const tainted = (node: string, taint: string): Verdict =>
  verdict(node, {
    code: 'NotWanted',
    placement: 'leave',
    reason: { code: 'TaintNotTolerated', taint },
    message: `Node ${node} has taint ${taint}; no pod belongs there.`,
  });

const starting = (node: string): Verdict =>
  verdict(node, {
    code: 'Pending',
    pod: `agent-${node}x`,
    message: `Node ${node} has pod agent-${node}x, which is starting.`,
  });

describe('verdicts gathered by reason', () => {
  it('puts nodes together whose pods have the same matter, and leaves out those that serve', () => {
    const groups = groupReasons([verdict('n1'), starting('n2'), starting('n3')]);
    assert.deepEqual(
      groups.map(({ code, kind, nodes, message }) => [code, kind, nodes, message]),
      [['Pending', 'coming', ['n2', 'n3'], 'has pod …, which is starting']],
    );
  });

  it('tells of one node what its own sentence says', () => {
    const [group] = groupReasons([starting('n2')]);
    assert.equal(group?.message, 'has pod agent-n2x, which is starting');
  });

  it('parts nodes without a pod by the reason of placement, with what to do', () => {
    const groups = groupReasons([tainted('g1', 'gpu:NoSchedule'), tainted('g2', 'old:NoExecute')]);
    assert.deepEqual(
      groups.map(({ code, kind, nodes }) => [code, kind, nodes]),
      [
        ['TaintNotTolerated', 'not-wanted', ['g1']],
        ['TaintNotTolerated', 'not-wanted', ['g2']],
      ],
    );
    assert.match(groups[0]?.remedy ?? '', /add a toleration/);
  });

  it('puts the gravest first, and those that serve last where all are asked for', () => {
    const failing = verdict('n9', { code: 'Unschedulable', message: 'Node n9 has no room.' });
    const stopped = verdict('n8', { code: 'WaitingForCluster', guard: 'stopped', message: 'x' });
    const all = [verdict('n1'), tainted('g1', 'gpu:NoSchedule'), starting('n2'), failing, stopped];
    assert.deepEqual(
      groupReasons(all, 'all').map(({ code }) => code),
      ['Unschedulable', 'stopped', 'Pending', 'TaintNotTolerated', 'Running'],
    );
  });
});

describe('the table of reasons', () => {
  it('has a short title for each code, and a remedy for whatever fails', () => {
    for (const [code, { kind, title, remedy }] of Object.entries(REASONS)) {
      assert.match(title, /^[a-z].{0,90}[^.]$/, code);
      assert.ok(kind !== 'failing' || remedy !== undefined, code);
    }
  });
});
