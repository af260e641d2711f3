/**
 * Scenarios on a control plane, real and local: what happens to pods. Deleted, failed (the first
 * steps of the back-off for real and across a restart), succeeded, evicted, stuck terminating, held by a
 * finalizer.
 */
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import type { PodRecord } from '../control-plane/observed-records.ts';
import type { AuditRecord } from '../control-plane/audit.ts';
import { userNameOf } from '../control-plane/identities.ts';
import { observerNowMs, type ObservedEvent } from '../control-plane/observer.ts';
import { daemonSetPath, podPath, testDaemonSet } from './daemon-set.ts';
import {
  daemonSetUid,
  expectNameGone,
  expectNoDoublePlacement,
  expectNoNameTwice,
  expectPodsOn,
  expectStatus,
  livePodsByNode,
} from './expectations.ts';
import { startPaceMeter, stretched } from '../../support/machine-pace.ts';
import { describeOnBackend } from './backends.ts';
import { NODES, openStage, type Stage } from './stage.ts';

/** A pod that failed, and was deleted for its successor. */
interface BackOffStep {
  readonly backOffMs: number;
  /** Since the deletion before. */
  readonly waitedMs: number;
  /** After the end of the back-off. */
  readonly lateMs: number;
  readonly isRestarted: boolean;
}

const LATE_MS_MAX = 2500;
const RESTARTED_LATE_MS_MAX = 20_000;

function findWrongSteps(steps: readonly BackOffStep[], slowdown: number): readonly BackOffStep[] {
  return steps.filter(({ backOffMs, waitedMs, lateMs, isRestarted }) => {
    const lateMsMax = isRestarted ? RESTARTED_LATE_MS_MAX : stretched(LATE_MS_MAX, slowdown);
    // Half of it: between the decision and its request a machine may stall.
    return !(waitedMs >= backOffMs / 2 && lateMs <= lateMsMax);
  });
}

const STORAGE = { 'storage.example.com/local-disks': 'true' };
const FIRST = NODES.storage[0];

describeOnBackend('pods of a DaemonSet', { timeout: 1_200_000 }, (backend) => {
  let stage: Stage;

  before(async () => {
    stage = await openStage({ backend, name: 'scenario-pods' });
  });
  after(async () => {
    await (stage as Stage | undefined)?.close();
  });

  it('a deleted pod is replaced, under another name (S13)', async () => {
    const { uid, pod } = await createOnStorage('deleted');
    await stage.admin.delete(podPath(pod));
    await expectReplacement(uid, pod);
    await expectNameGone(stage, pod);
  });

  it('a pod that succeeded is replaced, under another name (S13)', async () => {
    const { uid, pod } = await createOnStorage('succeeded');
    await setPhase(pod, 'Succeeded');
    await expectReplacement(uid, pod);
    await expectNameGone(stage, pod);
  });

  it('an evicted pod is replaced, under another name (S13)', async () => {
    const { uid, pod } = await createOnStorage('evicted');
    await setPhase(pod, 'Failed', 'Evicted');
    await expectReplacement(uid, pod);
    await expectNameGone(stage, pod);
  });

  it('a failed pod is deleted and revived: GET by its name answers 404 (upstream [Conformance], S13)', async () => {
    const { uid, pod } = await createOnStorage('revived');
    await setPhase(pod, 'Failed');
    const next = await expectReplacement(uid, pod);
    await expectNameGone(stage, pod);
    await stage.admin.delete(podPath(next));
    await expectReplacement(uid, next);
    await expectNameGone(stage, next);
    await expectNameGone(stage, pod);
  });

  it('failed pods are replaced 1, 2 and 4 s apart, also across a restart', async (context) => {
    const { uid, pod } = await createOnStorage('failing');
    await setPhase(pod, 'Failed');
    let current = await expectReplacement(uid, pod);
    let deletedAtMs = await deletionOf(pod);
    const pace = startPaceMeter();
    const steps: BackOffStep[] = [];
    for (const backOffMs of [1000, 2000, 4000]) {
      const failed = current;
      const failedAtMs = observerNowMs();
      await setPhase(failed, 'Failed');
      const isRestarted = backOffMs === 2000;
      if (isRestarted) await stage.restartEngine();
      current = await expectReplacement(uid, failed);
      const atMs = await deletionOf(failed);
      // The back-off runs from the deletion before: a slow replacement takes its part of it.
      const waitedMs = atMs - deletedAtMs;
      const lateMs = atMs - Math.max(failedAtMs, deletedAtMs + backOffMs);
      steps.push({ backOffMs, waitedMs, lateMs, isRestarted });
      deletedAtMs = atMs;
    }
    const slowdown = pace.stop();
    context.diagnostic(`${JSON.stringify(steps)}, ${slowdown.toFixed(1)} times slower`);
    assert.deepEqual(findWrongSteps(steps, slowdown), []);
  });

  it('a pod stuck terminating blocks its node until it is gone', async () => {
    const { uid, pod } = await createOnStorage('stuck', {
      // The first is for kwok; a local node agent kills after the grace period, which is longer than this takes.
      podLabels: { 'rollcall.test/stuck-terminating': 'true' },
      podAnnotations: { 'simulate.rollcall.dev/pod': 'ignore-sigterm' },
    });
    await stage.admin.delete(podPath(pod));
    await stage.observer.waitUntil(({ pods }) => pods.get(pod.uid)?.isDeleting === true, {
      deadlineMs: 60_000,
      description: 'the pod is terminating',
    });
    await stage.observer.waitUntilQuiet({ quietMs: 3000, deadlineMs: 60_000 });
    assert.equal(livePodsByNode(stage.observer, uid).get(FIRST), undefined);
    await stage.admin.delete(podPath(pod), { gracePeriodSeconds: 0 });
    await expectReplacement(uid, pod);
  });

  it('a finished pod held by a finalizer gets a successor beside it', async () => {
    const { uid, pod } = await createOnStorage('held', { finalizers: ['example.com/hold'] });
    await setPhase(pod, 'Failed');
    const successor = await expectReplacement(uid, pod);
    assert.notEqual(successor.name, pod.name);
    assert.ok(stage.observer.pods.has(pod.uid), 'the held pod is still there');
    for (const held of stage.observer.podsByNode(uid).values()) {
      for (const one of held)
        await stage.admin.patch(podPath(one), { metadata: { finalizers: null } });
    }
    await expectStatus(stage, uid, { numberAvailable: NODES.storage.length });
    await expectPodsOn(stage, uid, NODES.storage);
  });

  it('never had two non-terminal pods of a DaemonSet on a node (S1)', () => {
    expectNoDoublePlacement(stage);
  });

  it('never had a pod under the name of a former one (S13)', () => {
    expectNoNameTwice(stage);
  });

  async function createOnStorage(
    name: string,
    more: Partial<Parameters<typeof testDaemonSet>[0]> = {},
  ): Promise<{ readonly uid: string; readonly pod: PodRecord }> {
    await stage.admin.post(
      daemonSetPath({}),
      testDaemonSet({ name, nodeSelector: STORAGE, ...more }),
    );
    const uid = await daemonSetUid(stage, { namespace: 'default', name });
    await expectPodsOn(stage, uid, NODES.storage);
    await expectStatus(stage, uid, { numberReady: NODES.storage.length });
    const pod = livePodsByNode(stage.observer, uid).get(FIRST)?.[0];
    assert.ok(pod !== undefined);
    return { uid, pod };
  }

  /** Waits for a ready pod on the same node with another UID. */
  async function expectReplacement(uid: string, old: PodRecord): Promise<PodRecord> {
    const find = (): PodRecord | undefined =>
      livePodsByNode(stage.observer, uid)
        .get(old.node ?? '')
        ?.find((pod) => pod.uid !== old.uid && pod.isReady);
    try {
      await stage.observer.waitUntil(() => find() !== undefined, {
        deadlineMs: 120_000,
        description: `a replacement of ${old.name}`,
      });
    } catch (error) {
      throw new Error(stage.activity.tail(30), { cause: error });
    }
    const pod = find();
    assert.ok(pod !== undefined);
    return pod;
  }

  async function setPhase(pod: PodRecord, phase: string, reason?: string): Promise<void> {
    await stage.admin.patch(`${podPath(pod)}/status`, {
      status: {
        phase,
        ...(reason === undefined ? {} : { reason }),
        conditions: [{ type: 'Ready', status: 'False' }],
      },
    });
  }

  /** When the functions asked for its deletion, by the audit log; where that does not tell, when the witness saw it. */
  async function deletionOf(pod: PodRecord): Promise<number> {
    const isOfPod = ({ preconditions }: AuditRecord): boolean => preconditions?.uid === pod.uid;
    const filter = { user: userNameOf('functions'), verb: 'delete', resource: 'pods' };
    const [asked] = (await stage.cluster.readAudit?.({ ...filter, where: isOfPod })) ?? [];
    if (asked !== undefined) return asked.receivedAtMs;
    const seen = stage.observer.events.find((event) => isDeletion(event, pod.uid));
    assert.ok(seen !== undefined, `nobody saw ${pod.name} go`);
    return seen.atMs;
  }
});

function isDeletion(event: ObservedEvent, podUid: string): boolean {
  const { record } = event;
  return (
    record.kind === 'Pod' &&
    record.uid === podUid &&
    (record.isDeleting || event.type === 'DELETED')
  );
}
