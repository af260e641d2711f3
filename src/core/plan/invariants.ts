/**
 * What must hold of every effect and of every write of the state, whatever was planned (S1, S4, S7, S8, S9, S19; protocol 4).
 *
 * Nothing here decides: plans are made so that no breach is ever found. They are looked for all the same, in
 * production too, just before something is sent or written: a bug then costs a look, not a pod.
 */
import { generationOf } from '../daemon-set/generation.ts';
import { intentIdentity } from '../intents/merge-intents.ts';
import { isOfNode } from '../model/effects.ts';
import type {
  CreateCopyEffect,
  CreatePodEffect,
  DeletePodEffect,
  Effect,
  PatchEffect,
  NodeEffect,
  ReplaceCopyEffect,
  RestoreTemplateEffect,
  UpdateStatusEffect,
} from '../model/effects.ts';
import { compareResourceVersions, type ResourceVersion, type Uid } from '../model/identifiers.ts';
import { isPatch, testedValue } from '../status/status-patch.ts';
import type { ClusterMode, StartUp } from '../model/registration.ts';
import { isStartUpTaint } from '../start-up/start-up-taint.ts';
import { jsonItems, jsonMember } from '@rollcall/base/json.ts';
import type { DaemonSetObject, DaemonSetStatus } from '@rollcall/base/objects.ts';
import type { DaemonSetState, Intent } from '../model/state.ts';

/** A promise of docs/promise.md that can be looked at where something is sent or written. */
export type Invariant = 'S1' | 'S4' | 'S7' | 'S8' | 'S9' | 'S19';

/** A promise that would be broken. No part of an object is in its message (S11). */
export interface Breach {
  readonly invariant: Invariant;
  readonly message: string;
}

/** Whose effects are looked at. */
export interface EffectRules {
  readonly mode: ClusterMode;
  readonly namespace: string;
  readonly uid: Uid;
  /** What may be removed from nodes; absent: nothing. */
  readonly startUp?: StartUp;
  readonly burstPodsMax: number;
  /** Intents as this run recorded them; none before it did. */
  readonly recorded: readonly Intent[];
}

export interface SentSoFar {
  readonly creates: number;
  readonly deletes: number;
  readonly patches: number;
  /** Names under which pods were created, and UIDs of pods deleted. */
  readonly pods: ReadonlySet<string>;
}

/** What an effect would break; undefined: nothing. */
export function findEffectBreach(
  effect: Effect,
  rules: EffectRules,
  sent: SentSoFar,
): Breach | undefined {
  if (isOfNode(effect)) return findNodeBreach(effect, rules);
  if (effect.namespace !== rules.namespace) return breach('S4', 'it is for another namespace');
  const forbidden = findModeBreach(effect, rules);
  if (forbidden !== undefined) return forbidden;
  return isCopyWrite(effect) ? findCopyBreach(effect, rules) : findKindBreach(effect, rules, sent);
}

type CopyWrite = CreateCopyEffect | ReplaceCopyEffect;

function isCopyWrite(effect: Effect): effect is CopyWrite {
  return effect.kind === 'create-copy' || effect.kind === 'replace-copy';
}

/** Nothing of a node changes but the start-up taint of its cluster, or the condition that stands for it. */
function findNodeBreach(effect: NodeEffect, { mode, startUp }: EffectRules): Breach | undefined {
  if (mode === 'observe') return breach('S19', 'no node is changed in mode observe');
  if (effect.uid === '') return breach('S19', 'it has no UID to go by');
  if (effect.kind === 'set-condition') {
    const isOurs = startUp?.condition === effect.condition;
    return isOurs ? undefined : breach('S19', 'it is not the start-up condition of the cluster');
  }
  const isOurs = startUp !== undefined && isStartUpTaint(effect.taint, startUp);
  return isOurs ? undefined : breach('S19', 'it is not the start-up taint of the cluster');
}

function findKindBreach(
  effect: Exclude<Effect, CopyWrite | NodeEffect>,
  rules: EffectRules,
  sent: SentSoFar,
): Breach | undefined {
  switch (effect.kind) {
    case 'create-pod':
      return findCreateBreach(effect, rules, sent);
    case 'delete-pod':
      return findDeleteBreach(effect, rules, sent);
    case 'patch':
      return findPatchBreach(effect, rules, sent);
    case 'delete-revision':
      return effect.uid === '' ? breach('S4', 'it has no UID to go by') : undefined;
    case 'update-status':
      return findTargetBreach(effect, rules);
    case 'restore-template':
      return findTemplateBreach(effect, rules);
    case 'create-revision':
    case 'create-event':
    case 'patch-event':
      return undefined;
  }
}

/** What the built-in controller does in copilot is never ours to do; in observe nothing is. */
function findModeBreach({ kind }: Effect, { mode }: EffectRules): Breach | undefined {
  if (mode === 'takeover') return undefined;
  const isAllowed = mode === 'copilot' && COPILOT_KINDS.includes(kind);
  return isAllowed ? undefined : breach('S4', `no ${kind} is sent in mode ${mode}`);
}

const COPILOT_KINDS: readonly Effect['kind'][] = [
  'delete-pod',
  'restore-template',
  'create-event',
  'patch-event',
];

/** Where Rollcall makes the pods, a rollback is a matter of pods alone: no template is ever changed (ADR 0055). */
function findTemplateBreach(
  { uid }: RestoreTemplateEffect,
  rules: EffectRules,
): Breach | undefined {
  if (rules.mode !== 'copilot') return breach('S4', 'a template is restored in copilot alone');
  return uid === rules.uid ? undefined : breach('S4', 'it is the template of another object');
}

/** A copy is this DaemonSet's own, and stands beside the pods that it makes: in copilot no request needs one. */
function findCopyBreach({ body }: CopyWrite, { uid }: EffectRules): Breach | undefined {
  const owners = jsonItems(jsonMember(body['metadata'], 'ownerReferences'));
  const isOurs = owners.length === 1 && owners.every((owner) => jsonMember(owner, 'uid') === uid);
  return isOurs ? undefined : breach('S4', 'the copy would be of another DaemonSet');
}

function findTargetBreach(
  { uid, body }: UpdateStatusEffect,
  rules: EffectRules,
): Breach | undefined {
  const condition = (member: 'uid' | 'resourceVersion'): unknown =>
    isPatch(body) ? testedValue(body, `/metadata/${member}`) : jsonMember(body['metadata'], member);
  const isOurs = uid === rules.uid && condition('uid') === rules.uid;
  if (!isOurs) return breach('S4', 'it is the status of another object');
  const isConditional = typeof condition('resourceVersion') === 'string';
  return isConditional ? undefined : breach('S4', 'it has no version to go by');
}

function findCreateBreach(
  { name, body }: CreatePodEffect,
  { recorded, burstPodsMax, uid }: EffectRules,
  { creates, pods }: SentSoFar,
): Breach | undefined {
  if (creates >= burstPodsMax) return breach('S9', 'it is beyond the burst of one run');
  const isRecorded = recorded.some((intent) => intent.kind === 'create' && intent.name === name);
  if (!isRecorded) return breach('S1', 'the create was not recorded before');
  if (pods.has(name)) return breach('S1', 'this run has sent that create already');
  const owners = jsonItems(jsonMember(body['metadata'], 'ownerReferences'));
  const isOurs = owners.some((owner) => jsonMember(owner, 'uid') === uid);
  return isOurs ? undefined : breach('S4', 'the pod would not be controlled by its DaemonSet');
}

function findDeleteBreach(
  { uid, resourceVersion }: DeletePodEffect,
  { recorded, burstPodsMax }: EffectRules,
  { deletes }: SentSoFar,
): Breach | undefined {
  if (deletes >= burstPodsMax) return breach('S9', 'it is beyond the burst of one run');
  if (uid === '') return breach('S4', 'it has no UID to go by');
  const isRecorded = recorded.some(
    (intent) =>
      intent.kind === 'delete' && intent.uid === uid && intent.resourceVersion === resourceVersion,
  );
  return isRecorded ? undefined : breach('S4', 'the delete was not recorded before');
}

function findPatchBreach(
  { resource, uid, body }: PatchEffect,
  { burstPodsMax }: EffectRules,
  { patches }: SentSoFar,
): Breach | undefined {
  if (uid === '' || jsonMember(body['metadata'], 'uid') !== uid) {
    return breach('S4', 'it has no UID to go by');
  }
  const isBeyond = resource === 'pods' && patches >= burstPodsMax;
  return isBeyond ? breach('S9', 'it is beyond the burst of one run') : undefined;
}

/** One write of a state. */
export interface StateChange {
  readonly from: DaemonSetState;
  readonly to: DaemonSetState;
  /** Intents that may be dropped by it. */
  readonly settled?: readonly Intent[];
}

/** What a write of the state would break; undefined: nothing. */
export function findStateBreach({ from, to, settled = [] }: StateChange): Breach | undefined {
  if (from.written.era > to.written.era) return breach('S8', 'the era of own writes would go back');
  if (from.written.era === to.written.era) {
    for (const type of ['pods', 'daemonSet', 'revisions'] as const) {
      if (isBehind(to.written[type], from.written[type])) {
        return breach('S8', `the mark of own ${type} would go back`);
      }
    }
  }
  const identities = new Set(to.intents.map(intentIdentity));
  if (identities.size < to.intents.length) return breach('S1', 'an intent would stand there twice');
  const dropped = from.intents.filter((intent) => !identities.has(intentIdentity(intent)));
  const isSettled = new Set(settled.map(intentIdentity));
  const isLost = dropped.some((intent) => !isSettled.has(intentIdentity(intent)));
  return isLost ? breach('S1', 'an intent would be forgotten that is not settled') : undefined;
}

function isBehind(next: ResourceVersion | undefined, former: ResourceVersion | undefined): boolean {
  if (former === undefined) return false;
  return next === undefined || compareResourceVersions(next, former) < 0;
}

/** What a status would break on the DaemonSet as it was just read (S7); undefined: nothing. */
export function findStatusBreach(
  live: DaemonSetObject,
  status: DaemonSetStatus,
): Breach | undefined {
  const generation = generationOf(live);
  const before = live.status?.observedGeneration ?? 0;
  const observed = status.observedGeneration ?? 0;
  if (observed > Math.max(generation, before)) return breach('S7', 'observedGeneration would lead');
  return observed < before ? breach('S7', 'observedGeneration would fall') : undefined;
}

function breach(invariant: Invariant, message: string): Breach {
  return { invariant, message };
}
