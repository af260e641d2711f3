/** What a person is told of nodes that have their start-up taint for too long, for each reason. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nodeName } from '../../../../src/core/model/identifiers.ts';
import type {
  StartUpDecision,
  StartUpWaitCode,
} from '../../../../src/core/start-up/start-up-done.ts';
import { describeLateNodes } from '../../../../src/core/start-up/start-up-words.ts';

const startUp = {
  taint: { key: 'example.com/not-ready', effect: 'NoSchedule' },
  counts: 'labelled',
  waitBoundMs: 600_000,
} as const;

function describeOne(decision: StartUpDecision, held?: string): { text: string; remedy: string } {
  const nodes = [{ node: nodeName('n1'), decision }];
  return describeLateNodes('alpha', { startUp, nodes, ...(held === undefined ? {} : { held }) });
}

const waiting = (code: StartUpWaitCode): StartUpDecision => ({
  kind: 'waits',
  waitsFor: [{ namespace: 'logging', name: 'agent', code }],
});

describe('describeLateNodes', () => {
  it('says what a node waits for, and what to do', () => {
    const told = [
      ['no-pod', 'has no pod there', 'rollcall why logging/agent --cluster alpha --node n1'],
      ['not-ready', 'has no ready pod there', 'rollcall why logging/agent --cluster alpha'],
      ['older-than-node', 'has a pod there that is older than the node', 'delete its pod on n1'],
      ['not-tolerated', 'does not tolerate the taint', 'add a toleration of the taint'],
      ['unknown', 'cannot be read now', 'rollcall cluster doctor alpha'],
    ] as const;
    for (const [code, words, next] of told) {
      const { text, remedy } = describeOne(waiting(code));
      const had =
        'more than 10 minutes ago has the start-up taint example.com/not-ready:NoSchedule';
      assert.ok(text.startsWith(`1 node that joined ${had}: logging/agent ${words}`), text);
      assert.ok(remedy.startsWith(next), remedy);
    }
  });

  it('says so where all serve, where nothing counts, and where nothing may be removed', () => {
    const done = describeOne({ kind: 'done', pods: [] });
    assert.match(done.text, /all that counts serves there, and the taint is not removed \(n1\)$/);
    assert.equal(done.remedy, 'rollcall cluster doctor alpha');
    const condition = 'example.com/AgentsReady';
    const left = [{ node: nodeName('n1'), decision: { kind: 'done', pods: [] } as const }];
    const { remedy } = describeLateNodes('alpha', {
      startUp: { ...startUp, condition },
      nodes: left,
    });
    assert.match(remedy, /Node Readiness Controller runs and has a rule for example\.com/);
    const nothing = describeOne({ kind: 'waits', waitsFor: [] });
    assert.match(nothing.text, /no DaemonSet counts there/);
    assert.match(
      nothing.remedy,
      /^label a DaemonSet that belongs there rollcall\.dev\/start-up=true/,
    );
    const held = describeOne({ kind: 'done', pods: [] }, 'The cluster is frozen by ann.');
    assert.match(held.text, /Nothing is removed: The cluster is frozen by ann$/);
  });

  it('names five nodes of a reason, and what concerns most of them first', () => {
    const nodes = [
      { node: nodeName('n0'), decision: { kind: 'done', pods: [] } as const },
      ...Array.from({ length: 7 }, (_, index) => ({
        node: nodeName(`m${String(index)}`),
        decision: waiting('no-pod'),
      })),
    ];
    const { text, remedy } = describeLateNodes('alpha', { startUp, nodes });
    assert.match(
      text,
      /^8 nodes that joined .* have the start-up taint .*: logging\/agent has no pod there \(m0, m1, m2, m3, m4 and 2 more\); all/,
    );
    assert.match(remedy, /--node m0$/);
  });
});
