/**
 * What webhooks and other admission of a hostile cluster make of requests: refusals of one object of a batch, objects
 * changed on their way, answers that take ten seconds.
 *
 * What they leave behind (finalizers, pods that nobody can schedule) is taken away when faults stop.
 */
import type { Effect, RefusalCode } from '../../../src/core/model/effects.ts';
import type { JsonObject } from '@rollcall/base/json.ts';
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import type { Intervention } from '../simulated-hooks.ts';
import type { Fault } from './deeds.ts';
import type { FaultDecider } from './fault-decider.ts';
import { NOWHERE, isPinnedNowhere } from './pinned-pods.ts';
import type { World } from './world.ts';

/** A pod with this finalizer is held until somebody takes it off. */
const HELD_FINALIZER = 'simulation.example/held';
const HASH_LABEL = 'controller-revision-hash';
/** On both sides of a request's time-out of ten seconds. */
const SLOW_MS = [8000, 12_000] as const;

interface Admission {
  readonly world: World;
  readonly decider: FaultDecider;
}

/** Refuses a pod, changes it, or lets it pass. */
export function admitPod(
  { world, decider }: Admission,
  pod: KubernetesObject,
): { code: RefusalCode } | KubernetesObject | undefined {
  // Some nodes only: the others must get their pods all the same (faults row 45).
  if (/"n[123]"/.test(JSON.stringify(pod['spec']))) {
    if (decider.fires('admission')) return { code: 'admission' };
    if (decider.fires('quota')) return { code: 'quota' };
  }
  if (decider.fires('born-terminating')) {
    const deletionTimestamp = new Date(world.apiClock.nowMs()).toISOString();
    return { ...pod, metadata: { ...pod.metadata, deletionTimestamp } };
  }
  if (decider.fires('strip-hash')) {
    const { [HASH_LABEL]: _hash, ...labels } = pod.metadata.labels ?? {};
    return { ...pod, metadata: { ...pod.metadata, labels } };
  }
  if (decider.fires('pin-nowhere')) {
    return { ...pod, spec: { ...(pod['spec'] as JsonObject), nodeSelector: NOWHERE } };
  }
  const held = decider.strike('pod-finalizer');
  if (held === undefined) return undefined;
  world.clock.after(held.between(1000, 120_000), () => {
    dropHeldFinalizers(world, pod.metadata.name);
  });
  return { ...pod, metadata: { ...pod.metadata, finalizers: [HELD_FINALIZER] } };
}

/** The toleration and the label that an injector gives to each pod. */
const INJECTED = {
  toleration: { key: 'dedicated', operator: 'Exists' },
  label: ['simulation.example/injected', 'true'],
} as const;

/** What stands at the namespace has the last word: a quota, an injector, a LimitRange. */
export function admitToNamespace(
  on: Admission,
  pod: KubernetesObject,
  admitted: ReturnType<typeof admitPod>,
): ReturnType<typeof admitPod> {
  if (!on.world.site.isFull) return withLimits(on, pod, withInjected(on, pod, admitted));
  on.decider.note('refuse-namespace');
  return { code: 'quota' };
}

/** An injector: the pod tolerates, and is labelled, as its template is not. */
function withInjected(
  { world, decider }: Admission,
  pod: KubernetesObject,
  admitted: ReturnType<typeof admitPod>,
): ReturnType<typeof admitPod> {
  if (!world.site.isInjecting || (admitted !== undefined && 'code' in admitted)) return admitted;
  decider.note('injector');
  const given = admitted ?? pod;
  const { metadata } = given;
  const spec = given['spec'] as JsonObject;
  const { tolerations = [] } = spec as { readonly tolerations?: readonly JsonObject[] };
  const [name, value] = INJECTED.label;
  return {
    ...given,
    metadata: { ...metadata, labels: { ...metadata.labels, [name]: value } },
    spec: { ...spec, tolerations: [...tolerations, INJECTED.toleration] },
  };
}

/** A LimitRange gives resources to containers whose template asks for none. It stays when faults stop. */
function withLimits(
  { world, decider }: Admission,
  pod: KubernetesObject,
  admitted: ReturnType<typeof admitPod>,
): ReturnType<typeof admitPod> {
  const { limits } = world.site;
  if (limits === undefined || (admitted !== undefined && 'code' in admitted)) return admitted;
  decider.note('limit-range');
  const given = admitted ?? pod;
  const spec = given['spec'] as JsonObject;
  const containers = (spec['containers'] as readonly JsonObject[]).map((container) => ({
    resources: limits,
    ...container,
  }));
  return { ...given, spec: { ...spec, containers } };
}

/** Refuses one request that is no create of a pod; `refuse-patch` is what a webhook makes of an immutable field. */
const REFUSALS: readonly (readonly [Fault, readonly Effect['kind'][], RefusalCode, number])[] = [
  ['refuse-delete', ['delete-pod'], 'admission', 403],
  ['refuse-status', ['update-status'], 'admission', 403],
  ['refuse-patch', ['patch'], 'invalid', 422],
  ['refuse-revision', ['create-revision', 'delete-revision'], 'admission', 403],
];

/** The answer of admission to a request, if there is one. */
export function refuseRequest({ decider }: Admission, effect: Effect): Intervention | undefined {
  for (const [fault, kinds, code, status] of REFUSALS) {
    if (!kinds.includes(effect.kind) || !decider.fires(fault)) continue;
    const message = `injected: ${fault}`;
    return { kind: 'answer', outcome: { kind: 'refused', code, status, message } };
  }
  return undefined;
}

/** A webhook takes its time; past the time-out nobody waits for the answer, and the request arrives all the same. */
export function slowWebhook({
  world,
  decider,
}: Admission): Promise<Intervention | undefined> | undefined {
  const dice = decider.strike('slow-webhook');
  if (dice === undefined) return undefined;
  const tookMs = dice.between(...SLOW_MS);
  if (tookMs < 10_000) return world.clock.sleep(tookMs).then(() => undefined);
  world.clock.after(tookMs, () => {
    world.api.releaseStuck();
  });
  return Promise.resolve({ kind: 'stuck' });
}

/** Somebody deletes the pods that no node does for. */
export function dropPinnedPods(world: World): void {
  for (const pod of world.api.list('pods')) {
    if (isPinnedNowhere(pod)) world.api.remove('pods', pod.metadata.name, pod.metadata.namespace);
  }
}

/** Whoever held pods lets go of them: of one name, or of all. */
export function dropHeldFinalizers(world: World, name?: string): void {
  for (const pod of world.api.list('pods')) {
    const { finalizers = [], namespace = '' } = pod.metadata;
    if (!finalizers.includes(HELD_FINALIZER)) continue;
    if (name !== undefined && pod.metadata.name !== name) continue;
    world.api.change('pods', { namespace, name: pod.metadata.name }, (object) => ({
      ...object,
      metadata: {
        ...object.metadata,
        finalizers: finalizers.filter((finalizer) => finalizer !== HELD_FINALIZER),
      },
    }));
  }
}
