/** An edit played forward: it ends at rest or says that it does not, and what is so already is part of it. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { uid } from '../../../../src/core/model/identifiers.ts';
import type { PodProjection } from '../../../../src/core/model/projections.ts';
import { playEdit } from '../../../../src/core/what-if/play.ts';
import type { PlayInput } from '../../../../src/core/what-if/play.ts';
import { withKnownRequests } from '../../../../src/core/what-if/known-requests.ts';
import { tellPlan } from '../../../../src/core/what-if/tell-plan.ts';
import { typicalStart } from '../../../../src/core/what-if/typical-start.ts';
import { NOW_MS, daemonSet, node, pod, state } from '../../../support/core-fixtures.ts';

const START_MS = 10_000;
const NAMES = ['n1', 'n2', 'n3'];

function podOn(name: string, change: Partial<PodProjection> = {}): PodProjection {
  const labels = { app: 'agent', 'controller-revision-hash': 'old' };
  return pod(name, { labels, uid: uid(`uid-${name}`), ...change });
}

function input(change: Partial<PlayInput> = {}): PlayInput {
  const object = daemonSet({
    metadata: { generation: 2 },
    spec: { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1 } } },
  });
  return {
    daemonSet: object,
    nodes: NAMES.map((name) => node(name)),
    pods: NAMES.map((name) => podOn(name)),
    gone: [],
    revisions: [],
    nowMs: NOW_MS,
    startMs: START_MS,
    hands: { rollcall: 'all', hasBuiltIn: false },
    state: state({}),
    hash: 'new',
    formerTemplate: object.spec.template,
    requestTimeoutMs: 10_000,
    burstPodsMax: 250,
    ...change,
  };
}

function changes(played: ReturnType<typeof playEdit>, pods: PlayInput['pods']): readonly string[] {
  const { nodes } = tellPlan({ played, pods, guard: { kind: 'act' } });
  return nodes.map((one) => `${one.node} ${one.change} ${one.reason}`);
}

describe('an edit played forward', () => {
  it('replaces one node after the other, each once its successor is ready', () => {
    const played = playEdit(input());
    assert.equal(played.end, 'rest');
    const atMs = played.deeds.flatMap((deed) => (deed.kind === 'delete' ? [deed.atMs] : []));
    assert.equal(atMs.length, 3);
    assert.ok(atMs.every((ms, index) => index === 0 || ms - (atMs[index - 1] ?? 0) >= START_MS));
    assert.deepEqual(
      played.steps.map(({ kind }) => kind),
      ['rolling-update'],
    );
  });

  it('says that it does not end within its turns', () => {
    assert.equal(playEdit(input(), 3).end, 'does-not-end');
  });

  it('stands still at a node that cannot start a pod, and holds the others', () => {
    const nodes = NAMES.map((name) => node(name, { isReady: name !== 'n1' }));
    const pods = NAMES.map((name) => podOn(name, { isReady: name !== 'n1' }));
    const played = playEdit(input({ nodes, pods }));
    assert.equal(played.end, 'rest');
    assert.deepEqual(changes(played, pods), [
      'n1 restarted Updating',
      'n2 held WaitingForRollout',
      'n3 held WaitingForRollout',
    ]);
  });

  it('goes on without a pod that the API server refuses, of the same generation', () => {
    const [, ...pods] = input().pods;
    const first = node('n1').name;
    const refusal = {
      node: first,
      generation: 2,
      code: 'quota',
      message: 'no',
      delayMs: 1_000,
      notBeforeMs: NOW_MS,
    };
    const refused = playEdit(input({ pods, hash: 'old', state: state({ refusals: [refusal] }) }));
    assert.equal(changes(refused, pods)[0], 'n1 held Refused');
    const edited = state({ refusals: [{ ...refusal, generation: 1 }] });
    const taken = playEdit(input({ pods, hash: 'old', state: edited }));
    assert.equal(changes(taken, pods)[0], 'n1 gained Creating');
  });

  it('holds a mass removal for a confirmation, in takeover alone', () => {
    const names = Array.from({ length: 12 }, (_each, index) => `n${String(index)}`);
    const pods = names.map((name) => podOn(name));
    const podSpec = { nodeSelector: { pool: 'a' }, containers: [] };
    const nodes = names.map((name) => node(name));
    const many = { daemonSet: daemonSet({ podSpec }), nodes, pods, hash: 'old' };
    const held = playEdit(input(many));
    assert.ok(held.isRemovalHeld);
    assert.equal(changes(held, pods)[0], 'n0 held HeldByRemovalGuard');
    const hands = { rollcall: 'none', hasBuiltIn: true } as const;
    const built = playEdit(input({ ...many, hands }));
    assert.equal(changes(built, pods)[0], 'n0 lost NodeSelectorMismatch');
  });
});

describe('what a plan begins with', () => {
  const object = daemonSet();
  const create = {
    kind: 'create',
    node: node('n9').name,
    name: 'agent-n9',
    recordedAtMs: NOW_MS,
    startsByMs: NOW_MS,
  } as const;

  it('counts pods that were made, and deletes that were sent, though no view shows them', () => {
    const [known] = input().pods;
    assert.ok(known !== undefined);
    const answer = { uid: uid('made'), resourceVersion: known.resourceVersion };
    const leaving = {
      kind: 'delete',
      name: known.name,
      uid: known.uid,
      resourceVersion: known.resourceVersion,
      recordedAtMs: NOW_MS,
      startsByMs: NOW_MS,
      isAccepted: true,
    } as const;
    const intents = { unseen: [{ ...create, answer }, leaving], unresolved: [], settled: [] };
    const pods = withKnownRequests([known], { intents, daemonSet: object, currentHash: 'h' });
    assert.deepEqual(
      pods.map(({ name, isTerminating }) => [name, isTerminating]),
      [
        [known.name, true],
        ['agent-n9', false],
      ],
    );
  });

  it('plans a create without an answer again', () => {
    const intents = { unseen: [], unresolved: [create], settled: [] };
    assert.deepEqual(withKnownRequests([], { intents, daemonSet: object, currentHash: 'h' }), []);
  });

  it('takes the median start of pods of now, or says that it is assumed', () => {
    const took = [4_000, 9_000, 20_000, 3_600_000].map((ms, index) =>
      podOn(`n${String(index)}`, { createdAtMs: NOW_MS - ms, readyChangedAtMs: NOW_MS }),
    );
    assert.deepEqual(typicalStart(took), { startMs: 9_000, pods: 3 });
    assert.deepEqual(typicalStart([]), { startMs: 30_000, pods: 0 });
  });
});
