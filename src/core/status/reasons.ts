/**
 * Why a node has no serving pod, or has one, as one table by code: how bad it is, a title in plain words, and what to do.
 *
 * Codes of nodes, of placement, and of what keeps runs from acting share the table, so that commands, Events and logs say
 * the same thing in the same words. Where a node's verdict knows a better remedy, with names in it, that one is told.
 */
import type { GuardCode, NodeCode, PlacementReason } from '../model/verdict.ts';

/**
 * serving: a pod is there and serves. not-wanted: none belongs there. coming: it comes by itself. held: something
 * keeps it from coming. failing: it is tried, and fails.
 */
export type ReasonKind = 'serving' | 'not-wanted' | 'coming' | 'held' | 'failing';

/** A code of the table. */
export type ReasonCode = NodeCode | PlacementReason['code'] | GuardCode | 'StartingUp';

/** The meaning of a code. */
export interface Reason {
  readonly kind: ReasonKind;
  /** Without a capital and a full stop, as the end of `3 nodes: …`. */
  readonly title: string;
  /** A command or an act; absent: nothing is to be done. */
  readonly remedy?: string;
}

const OF_NODES: Readonly<Record<NodeCode, Reason>> = {
  Running: { kind: 'serving', title: 'a pod runs and is ready' },
  KeptDespiteTaint: {
    kind: 'serving',
    title: 'the pod was there before a taint, and stays',
    remedy: 'add a toleration to the template, or remove the taint: a lost pod is not made again',
  },
  Outdated: {
    kind: 'serving',
    title: 'the pod is of an older revision, and stays until it is deleted (OnDelete)',
    remedy: 'delete the pod when it suits',
  },
  WaitingForRollout: {
    kind: 'serving',
    title: 'the pod is of an older revision, and waits for its turn in the rollout',
    remedy: 'see what the rollout waits for: rollcall rollout status',
  },
  NotWanted: { kind: 'not-wanted', title: 'no pod belongs there' },
  Creating: { kind: 'coming', title: 'its pod is being created' },
  Pending: { kind: 'coming', title: 'its pod is starting' },
  Updating: { kind: 'coming', title: 'its pod is being replaced' },
  Deleting: { kind: 'coming', title: 'a pod of it is being deleted' },
  WaitingForTermination: {
    kind: 'coming',
    title: 'the former pod has to be gone first',
    remedy: "if it lasts, look whether the node's kubelet is alive: kubectl describe node",
  },
  WaitingForRequest: {
    kind: 'coming',
    title: 'an earlier request has to be certainly dead first, a minute at most',
  },
  WaitingForBurst: { kind: 'coming', title: 'it follows after the present batch' },
  LeftToBuiltIn: {
    kind: 'coming',
    title: 'the built-in controller makes or deletes its pod',
    remedy: 'if it lasts, look at kube-controller-manager',
  },
  WaitingForRevision: {
    kind: 'held',
    title: 'the last good revision cannot be read',
    remedy: 'rollcall rollout resume, or approve what follows: rollcall rollout status',
  },
  WaitingForCluster: {
    kind: 'held',
    title: 'the view of the cluster is too old or too incomplete to act on',
    remedy: 'rollcall cluster doctor',
  },
  HeldByRemovalGuard: {
    kind: 'held',
    title: 'the removal of many pods waits for a confirmation',
    remedy: 'take the change back, or confirm it as the Event RemovalHeld says',
  },
  SchedulingGated: {
    kind: 'held',
    title: 'a scheduling gate holds its pod',
    remedy: 'see who set the gate: kubectl get pod -o jsonpath={.spec.schedulingGates}',
  },
  ReadinessGatesNotReady: {
    kind: 'held',
    title: 'its containers are ready, and a readiness gate withholds the pod',
    remedy: 'see which condition the gate asks for: kubectl get pod -o wide',
  },
  Blocked: {
    kind: 'held',
    title: 'no pod of it can be made',
    remedy: 'repair what the message names',
  },
  Unschedulable: {
    kind: 'failing',
    title: 'the scheduler finds no room for its pod',
    remedy: 'make room on the node, lower the requests, or give the DaemonSet a priority class',
  },
  ImagePullBackOff: {
    kind: 'failing',
    title: 'its image cannot be pulled',
    remedy: 'repair the image or its pull secret: kubectl describe pod',
  },
  CreateContainerConfigError: {
    kind: 'failing',
    title: 'a Secret, a ConfigMap or a key of one is missing',
    remedy: 'create it, or repair the reference: kubectl describe pod',
  },
  CreateContainerError: {
    kind: 'failing',
    title: 'a container cannot be made or started',
    remedy: 'kubectl describe pod',
  },
  CrashLoopBackOff: {
    kind: 'failing',
    title: 'a container crashes again and again',
    remedy: 'read what it said before: kubectl logs --previous',
  },
  ContainerCreating: {
    kind: 'failing',
    title: 'its containers are not made: mostly a volume or the network is missing',
    remedy: 'kubectl describe pod: its Events name the volume or the network plugin',
  },
  NotReady: {
    kind: 'failing',
    title: 'its pod runs and does not become ready',
    remedy: 'look at its readiness probe and logs: kubectl describe pod',
  },
  NodeNotReady: {
    kind: 'failing',
    title: 'the node is not ready',
    remedy: 'kubectl describe node',
  },
  FailedBackoff: {
    kind: 'failing',
    title: 'its pod failed, and the next one waits',
    remedy: 'see why it failed: kubectl describe pod',
  },
  Refused: {
    kind: 'failing',
    title: 'the API server refuses its pod',
    remedy: 'docs/reference/codes.md says what each refusal means: repair what the message names',
  },
};

/** Every code of placement; the titles are those of nodes where no pod belongs, but for `Eligible`. */
const OF_PLACEMENT: Readonly<Record<PlacementReason['code'], Reason>> = {
  Eligible: { kind: 'serving', title: 'the node matches the template' },
  OtherNodeName: {
    kind: 'not-wanted',
    title: 'the template names another node',
    remedy: 'remove spec.nodeName from the template',
  },
  NodeSelectorMismatch: {
    kind: 'not-wanted',
    title: 'the node lacks a label of the nodeSelector',
    remedy: 'label the node, or change the selector',
  },
  NodeAffinityMismatch: {
    kind: 'not-wanted',
    title: 'the node does not match the node affinity',
    remedy: 'label the node, or change the affinity',
  },
  NodeAffinityInvalid: {
    kind: 'not-wanted',
    title: 'the node affinity is invalid',
    remedy: 'repair the term that is named',
  },
  TaintNotTolerated: {
    kind: 'not-wanted',
    title: 'the node has a taint that the template does not tolerate',
    remedy: 'add a toleration to the template, or remove the taint',
  },
};

const DOCTOR = 'rollcall cluster doctor';

/** Every code of what keeps runs from acting. */
const OF_GUARDS: Readonly<Record<GuardCode, Reason>> = {
  stopped: { kind: 'held', title: 'the stack is stopped', remedy: 'rollcall stack resume' },
  frozen: { kind: 'held', title: 'it is frozen', remedy: 'rollcall thaw, of what is frozen' },
  'cluster-silent': { kind: 'held', title: 'the watcher is not heard', remedy: DOCTOR },
  'watcher-stands-by': { kind: 'held', title: 'the watcher stands by', remedy: DOCTOR },
  'functions-behind': {
    kind: 'held',
    title: 'no function comes to its turn',
    remedy: 'rollcall stack check',
  },
  'cluster-unavailable': {
    kind: 'held',
    title: 'the API server does not answer',
    remedy: DOCTOR,
  },
  'no-access': { kind: 'held', title: 'the cluster lets Rollcall in no more', remedy: DOCTOR },
  'conflicting-controller': {
    kind: 'held',
    title: 'another controller is at work in the cluster',
    remedy: DOCTOR,
  },
  'conflict-suspected': {
    kind: 'held',
    title: 'another field manager wrote the status of the DaemonSet',
    remedy: DOCTOR,
  },
  'sentinel-missing': {
    kind: 'held',
    title: 'the sentinel of the takeover is gone',
    remedy: DOCTOR,
  },
  'observe-mode': { kind: 'held', title: 'the cluster is only observed' },
  'not-opted-in': {
    kind: 'held',
    title: 'the DaemonSet has no part in the copilot',
    remedy: 'give it the annotation rollcall.dev/rollout and the strategy OnDelete',
  },
  'rolling-update': {
    kind: 'held',
    title: 'the built-in controller rolls it out itself',
    remedy: 'set its update strategy to OnDelete',
  },
  'view-incomplete': {
    kind: 'coming',
    title: 'the view of the cluster is not whole',
    remedy: DOCTOR,
  },
  'cut-open': { kind: 'coming', title: 'the watcher is in the middle of a report' },
  'own-writes-unseen': { kind: 'coming', title: 'own writes are not in the view yet' },
};

/** Of nodes alone, beside what is the matter with a pod. */
const STARTING_UP: Reason = {
  kind: 'held',
  title: 'the node joined longer ago than the bound, and has its start-up taint',
  remedy: 'repair what the message names, or take the taint away: kubectl taint node',
};

/** The meaning of each code. */
export const REASONS: Readonly<Record<ReasonCode, Reason>> = {
  ...OF_NODES,
  ...OF_PLACEMENT,
  ...OF_GUARDS,
  StartingUp: STARTING_UP,
};

/** The remedy for a node's placement, with names; undefined: the table says it. */
export function remedyOfPlacement(reason: PlacementReason): string | undefined {
  if (reason.code === 'NodeSelectorMismatch') {
    return `kubectl label node NODE ${reason.label} --overwrite, or change the nodeSelector`;
  }
  if (reason.code !== 'TaintNotTolerated') return undefined;
  const [, key = '', value, effect = ''] = TAINT.exec(reason.taint) ?? [];
  if (key === '') return undefined;
  if (key.startsWith('node.kubernetes.io/')) {
    return 'the taint goes with its cause: kubectl describe node NODE';
  }
  const how = value === undefined ? 'operator: Exists' : `value: "${value}"`;
  return `add the toleration {key: ${key}, ${how}, effect: ${effect}} to the template, or remove the taint: kubectl taint node NODE ${key}:${effect}-`;
}

/** As formatTaint writes it. */
const TAINT = /^([^=:]+)(?:=([^:]*))?:(.+)$/;
