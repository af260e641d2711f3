// What a breach says: one sentence, its numbers, three nodes, and no word of an object that looks like anything but a reason.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { failureMessage, slowMessage, trialMessage } from '../../../../src/core/health/breach.ts';
import { nodeName } from '../../../../src/core/model/identifiers.ts';

const nodes = ['n1', 'n2', 'n3', 'n4', 'n5'].map(nodeName);

type Failure = Parameters<typeof failureMessage>[0];
type TrialSide = Parameters<typeof trialMessage>[0]['updated'];

function message(changes: Partial<Failure> = {}): string {
  return failureMessage(
    { sign: 'ImagePull', word: 'ImagePullBackOff', container: 'agent', ...changes },
    { nodes: nodes.slice(0, 2), updatedNodes: 16 },
  );
}

describe('failureMessage', () => {
  it('names a container where the sign is of one', () => {
    const says: Partial<Record<Failure['sign'], string>> = {
      ContainerConfig: 'cannot make the configuration of container agent',
      RuntimeRefused: 'cannot start container agent',
      InitFailed: 'cannot get past container agent',
      OOMKilled: 'ran out of memory in container agent',
      NeverStarted: 'did not start in time',
      Unschedulable: 'have no room for the pod',
      PodRefused: 'refuse the pod',
      Crash: 'restarted again and again',
      NotReady: 'run the pod, which stays not ready',
      NodeLost: 'are not Ready',
      NodeRefused: 'refuse the pod',
      Evicted: 'evicted the pod',
      Rebooted: 'restarted',
    };
    for (const [sign, words] of Object.entries(says)) {
      const told = message({ sign: sign as Failure['sign'], word: 'Word' });
      assert.equal(told, `2 of 16 updated nodes ${words} (Word): n1, n2`, sign);
    }
  });

  it('names no container that it does not know, or whose name is none', () => {
    const without = { sign: 'OOMKilled' as const, word: 'OOMKilled' };
    const one = { nodes: nodes.slice(0, 1), updatedNodes: 1 };
    const unnamed = '1 of 1 updated nodes ran out of memory in a container (OOMKilled): n1';
    assert.equal(failureMessage(without, one), unnamed);
    for (const container of ['', 'A', '-a', 'a-', 'a b', 'a\nb', 'a'.repeat(64)]) {
      assert.match(message({ container }), / of a container \(/, JSON.stringify(container));
    }
    for (const container of ['a', 'a-1', '1a', 'a'.repeat(63)]) {
      assert.match(message({ container }), new RegExp(` of container ${container} \\(`));
    }
  });

  it('repeats a reason, with an exit code, and no other text that somebody wrote', () => {
    for (const word of ['Error', 'Error 137', 'Signal -9', 'E2', `A${'b'.repeat(62)}`]) {
      assert.match(message({ word }), new RegExp(`\\(${word}\\)`));
    }
    const others = ['', 'two words', '2E', 'a-b', ' Error', 'Error 1 2', 'Error 12345678901'];
    for (const word of [...others, `A${'b'.repeat(63)}`, 'Error x', 'x: <script>']) {
      assert.match(message({ word }), /\(ImagePull\)/, word);
    }
  });
});

describe('trialMessage', () => {
  const side = (failed: number, all: number): TrialSide => ({
    failed: nodes.slice(0, failed).map((node) => ({ node })),
    nodes: all,
  });
  const facts = { eValue: 27.6, updated: side(3, 16), others: side(1, 148) };

  it('has E, and how many failed on either side', () => {
    assert.equal(
      trialMessage(facts),
      '3 of 16 updated nodes went bad, 1 of 148 others; E = 27.6, halts at 25: n1, n2, n3',
    );
  });

  it('counts no more that failed than there are, where nodes that failed as others were updated since', () => {
    assert.match(trialMessage({ ...facts, others: side(1, 0) }), /, 1 of 1 others; /);
  });

  it('rounds what is beyond counting', () => {
    assert.match(trialMessage({ ...facts, eValue: 1e6 }), /E = over a million, /);
    assert.match(trialMessage({ ...facts, eValue: 999_999 }), /E = 999999, /);
  });
});

describe('slowMessage', () => {
  it('says what takes how long, what it took, and how often that was measured', () => {
    const slow = { kind: 'get pods', beforeMs: 12, sinceMs: 2400, beforeCount: 12, sinceCount: 8 };
    assert.equal(
      slowMessage(slow),
      'the API server became slow: get pods takes 2400 ms, and took 12 ms before (in 8 and 12 quarters of a minute)',
    );
  });
});
