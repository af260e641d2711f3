/** Which DaemonSets a node waits for, and whether they serve there (ADR 0089). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { uid } from '../../../../src/core/model/identifiers.ts';
import type { PodProjection } from '../../../../src/core/model/projections.ts';
import type { StartUp } from '../../../../src/core/model/registration.ts';
import {
  nodesStartingUp,
  podsByNode,
  startUpDone,
  startUpSetOf,
} from '../../../../src/core/start-up/start-up-done.ts';
import { NOW_MS, OWNER_UID, daemonSet, node, pod } from '../../../support/core-fixtures.ts';
import type { DaemonSetOptions, PodOptions } from '../../../support/core-fixtures.ts';

const TAINT = { key: 'example.com/agents-not-ready', effect: 'NoSchedule' } as const;
const LABELLED: StartUp = { taint: TAINT, counts: 'labelled', waitBoundMs: 600_000 };
const ALL: StartUp = { ...LABELLED, counts: 'all' };
const JOINED_MS = NOW_MS - 60_000;
const tainted = node('n1', { taints: [TAINT], createdAtMs: JOINED_MS });
const TOLERATING = [{ key: TAINT.key, operator: 'Exists' }];

interface Given extends DaemonSetOptions {
  readonly name?: string;
  readonly isLabelled?: boolean;
  readonly tolerates?: boolean;
  /** Null: it cannot be read. */
  readonly pods?: readonly PodProjection[] | null;
}

const serving = (options: PodOptions = {}): PodProjection =>
  pod('n1', { createdAtMs: JOINED_MS, ...options });

/** A DaemonSet as `startUpDone` takes it; none where it does not count. */
function given(
  { name = 'agent', isLabelled = true, tolerates = true, ...of }: Given,
  startUp: StartUp,
) {
  const object = daemonSet({
    name,
    metadata: { labels: isLabelled ? { 'rollcall.dev/start-up': 'true' } : {} },
    podSpec: {
      containers: [],
      ...(tolerates ? { tolerations: TOLERATING } : {}),
      ...of.podSpec,
    },
  });
  const set = startUpSetOf({ namespace: 'ns', name }, object, startUp);
  const { pods = [serving()] } = of;
  if (set === undefined) return [];
  return [{ set, pods: pods === null ? undefined : podsByNode(pods, OWNER_UID) }];
}

function codes(
  sets: readonly Given[],
  startUp = LABELLED,
  of = tainted,
): readonly string[] | 'done' {
  const decision = startUpDone(
    of,
    sets.flatMap((set) => given(set, startUp)),
    startUp,
  );
  if (decision.kind === 'done') return 'done';
  return decision.waitsFor.map(({ name, code }) => `${name} ${code}`);
}

describe('S19: startUpDone', () => {
  it('is done once each DaemonSet that counts has a serving pod on the node', () => {
    assert.equal(codes([{}]), 'done');
    assert.equal(codes([{}, { name: 'proxy' }]), 'done');
    assert.deepEqual(codes([{}, { name: 'proxy', pods: [] }]), ['proxy no-pod']);
  });

  it('waits for a pod that is not ready, not running, ending, unbound, or of another owner', () => {
    const otherwise: readonly PodOptions[] = [
      { isReady: false },
      { phase: 'Failed' },
      { phase: 'Pending', isReady: false },
    ];
    for (const options of otherwise) {
      assert.deepEqual(codes([{ pods: [serving(options)] }]), ['agent not-ready']);
    }
    for (const options of [{ isTerminating: true }, { boundNode: null }, { ownerUid: uid('x') }]) {
      assert.deepEqual(codes([{ pods: [serving(options)] }]), ['agent no-pod']);
    }
    assert.deepEqual(codes([{ pods: [pod('n2', { createdAtMs: NOW_MS })] }]), ['agent no-pod']);
  });

  it('waits where the pod is older than the node, or the node has no age', () => {
    const older = { pods: [serving({ createdAtMs: JOINED_MS - 1 })] };
    assert.deepEqual(codes([older]), ['agent older-than-node']);
    const ageless = node('n1', { taints: [TAINT] });
    assert.deepEqual(codes([{}], LABELLED, ageless), ['agent older-than-node']);
    // A younger one beside it serves.
    assert.equal(codes([{ pods: [...older.pods, serving({ name: 'new' })] }]), 'done');
  });

  it('waits for what cannot be read', () => {
    assert.deepEqual(codes([{ pods: null }]), ['agent unknown']);
    const unknown = startUpSetOf({ namespace: 'ns', name: 'vast' }, null, LABELLED);
    assert.ok(unknown !== undefined);
    const { waitsFor } = startUpDone(tainted, [{ set: unknown, pods: undefined }], LABELLED) as {
      readonly waitsFor: readonly { readonly code: string }[];
    };
    assert.deepEqual(
      waitsFor.map(({ code }) => code),
      ['unknown'],
    );
  });

  it('waits for nothing that is not labelled, or does not belong there; of all, for all that tolerate the taint', () => {
    const elsewhere = { name: 'gpu', podSpec: { nodeSelector: { gpu: 'yes' } }, pods: [] };
    assert.equal(codes([{}, { name: 'other', isLabelled: false, pods: [] }]), 'done');
    assert.equal(codes([{}, elsewhere]), 'done');
    const unlabelled = { name: 'other', isLabelled: false, pods: [] };
    assert.deepEqual(codes([{}, unlabelled], ALL), ['other no-pod']);
    assert.equal(codes([{}, { ...unlabelled, tolerates: false }], ALL), 'done');
  });

  it('never ends where nothing counts, and says of one that is labelled and does not tolerate the taint that no pod comes', () => {
    assert.deepEqual(codes([]), []);
    assert.deepEqual(codes([{ isLabelled: false }]), []);
    assert.deepEqual(codes([{ tolerates: false, pods: [] }]), ['agent not-tolerated']);
  });

  it('leaves out a DaemonSet that is being deleted', () => {
    const object = daemonSet({
      metadata: { labels: { 'rollcall.dev/start-up': 'true' }, deletionTimestamp: 'now' },
    });
    assert.equal(startUpSetOf({ namespace: 'ns', name: 'agent' }, object, LABELLED), undefined);
  });
});

describe('nodesStartingUp', () => {
  it('are those with the taint that are not being deleted', () => {
    const nodes = [tainted, node('n2'), node('n3', { taints: [TAINT], isTerminating: true })];
    assert.deepEqual(nodesStartingUp(nodes, LABELLED), [tainted]);
  });
});
