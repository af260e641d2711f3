/**
 * Waiting for, and holding, "exactly these nodes have exactly one pod", as the witness sees it.
 */
import assert from 'node:assert/strict';
import type { PodRecord } from '../control-plane/observed-records.ts';
import type { Observer } from '../control-plane/observer.ts';
import { podPath } from './daemon-set.ts';
import type { BareStage as Stage } from './stage.ts';

const SETTLE_DEADLINE_MS = 120_000;
/** How long a pod's name is not used again (docs/promise.md). */
const NAME_UNUSED_MS = 600_000;

/** UID of a DaemonSet by name, as the API server has it now. */
export async function daemonSetUid(
  stage: Stage,
  daemonSet: { readonly namespace: string; readonly name: string },
): Promise<string> {
  const object = await stage.admin.get(
    `/apis/apps/v1/namespaces/${daemonSet.namespace}/daemonsets/${daemonSet.name}`,
  );
  const { uid } = object.metadata;
  assert.ok(uid !== undefined);
  return uid;
}

/** Pods of a DaemonSet that are neither terminal nor being deleted, by node. */
export function livePodsByNode(observer: Observer, uid: string): Map<string, readonly PodRecord[]> {
  const live = new Map<string, readonly PodRecord[]>();
  for (const [node, pods] of observer.podsByNode(uid)) {
    const alive = pods.filter((pod) => !pod.isTerminal && !pod.isDeleting);
    if (alive.length > 0) live.set(node, alive);
  }
  return live;
}

/** What differs from "one live pod on each of these nodes and none elsewhere"; empty if nothing. */
export function differences(
  observer: Observer,
  uid: string,
  nodes: readonly string[],
): readonly string[] {
  const live = livePodsByNode(observer, uid);
  const expected = new Set(nodes);
  const found: string[] = [];
  for (const node of nodes) {
    const count = live.get(node)?.length ?? 0;
    if (count !== 1) found.push(`${node}: ${String(count)} pods instead of 1`);
  }
  for (const [node, pods] of live) {
    if (!expected.has(node)) found.push(`${node}: ${String(pods.length)} pods instead of none`);
  }
  return found;
}

/** Waits until exactly these nodes have one live pod of the DaemonSet each. */
export async function expectPodsOn(
  stage: Stage,
  uid: string,
  expected: readonly string[] | { readonly nodes: readonly string[]; readonly deadlineMs: number },
): Promise<void> {
  const { nodes, deadlineMs } =
    'nodes' in expected ? expected : { nodes: expected, deadlineMs: SETTLE_DEADLINE_MS };
  try {
    await stage.observer.waitUntil((it) => differences(it, uid, nodes).length === 0, {
      deadlineMs,
      description: 'one pod on each expected node',
    });
  } catch (error) {
    const found = differences(stage.observer, uid, nodes).join('; ');
    throw new Error(`${found}\n${stage.activity.tail(30)}`, { cause: error });
  }
}

/** Fails if the witness ever saw two non-terminal pods of one DaemonSet on a node (S1). */
export function expectNoDoublePlacement(stage: Stage): void {
  assert.deepEqual(stage.observer.violations, [], 'S1: two non-terminal pods on one node');
}

/** Fails if the witness ever saw a pod made under the name of another one that a DaemonSet had within ten minutes (S13). */
export function expectNoNameTwice(stage: Stage): void {
  const last = new Map<string, { readonly uid: string; readonly atMs: number }>();
  const again: string[] = [];
  for (const { type, atMs, record } of stage.observer.events) {
    if (record.kind !== 'Pod' || record.daemonSetUid === undefined) continue;
    const name = `${record.namespace}/${record.name}`;
    const former = last.get(name);
    const isAnother = former !== undefined && former.uid !== record.uid;
    if (isAnother && type !== 'DELETED' && atMs - former.atMs < NAME_UNUSED_MS) again.push(name);
    last.set(name, { uid: record.uid, atMs });
  }
  assert.deepEqual(again, [], 'S13: pods under the names of former ones');
}

/** GET by the name of a pod that is gone: 404, whatever stands on its node now (S13). */
export async function expectNameGone(stage: Stage, pod: PodRecord): Promise<void> {
  const { status } = await stage.admin.request({ method: 'GET', path: podPath(pod) });
  assert.equal(status, 404, `somebody bears the name ${pod.name}`);
}

/** Waits until the DaemonSet's status has these counters (and has observed its generation). */
export async function expectStatus(
  stage: Stage,
  uid: string,
  counters: Readonly<Record<string, number>>,
): Promise<void> {
  const reached = (observer: Observer): boolean => {
    const record = observer.daemonSets.get(uid);
    if (record === undefined || record.observedGeneration !== record.generation) return false;
    return Object.entries(counters).every(([name, value]) => (record.status[name] ?? 0) === value);
  };
  try {
    await stage.observer.waitUntil(reached, {
      deadlineMs: SETTLE_DEADLINE_MS,
      description: `status ${JSON.stringify(counters)}`,
    });
  } catch (error) {
    const status = JSON.stringify(stage.observer.daemonSets.get(uid)?.status);
    throw new Error(`status is ${status}\n${stage.activity.tail(30)}`, { cause: error });
  }
}
