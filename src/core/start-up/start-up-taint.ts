/**
 * The start-up taint of a cluster: what it may be, how it is written, and where a node has it (ADR 0089).
 */
import type { Taint, TaintEffect } from '@rollcall/base/objects.ts';
import type { StartUp } from '../model/registration.ts';

/** What a DaemonSet bears that nodes wait for, with the value `true`. */
export const START_UP_LABEL = 'rollcall.dev/start-up';

/** How long a node may wait before it is told of, where nothing else was set. */
export const START_UP_WAIT_MS = 10 * 60_000;

/** A day: what waits for longer is nothing that a bound of its own is needed for. */
export const START_UP_WAIT_MAX_MS = 24 * 3_600_000;

/** A key of a taint, as of a label: a prefix that is a DNS name, and a name of 63 characters. */
export const TAINT_KEY =
  /^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
/** A type of a node's condition: it has a prefix, so it is none that kubelets and Kubernetes write. */
export const START_UP_CONDITION =
  /^(?!([a-z0-9-]+\.)*(kubernetes|k8s)\.io\/)[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?\/[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const TAINT_VALUE = /^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/;
const EFFECTS: readonly TaintEffect[] = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

/** Reads `key[=value]:Effect`; undefined: it is no taint, or one that Kubernetes itself sets. */
export function parseStartUpTaint(text: string): Taint | undefined {
  const [, key = '', value, word = ''] = /^([^=:]+)(?:=([^:]*))?:(.+)$/.exec(text) ?? [];
  const effect = EFFECTS.find((each) => each === word);
  if (effect === undefined || !TAINT_KEY.test(key) || isOfKubernetes(key)) return undefined;
  if (value === undefined) return { key, effect };
  return TAINT_VALUE.test(value) ? { key, value, effect } : undefined;
}

/** True of taints by which Kubernetes says that a node cannot be used: none of them is a start-up taint. */
export function isOfKubernetes(key: string): boolean {
  const [prefix = ''] = key.includes('/') ? key.split('/') : [];
  return prefix === 'node.kubernetes.io' || prefix === 'node.cloudprovider.kubernetes.io';
}

/** True if a taint of a node is the start-up taint: by key and effect, and by value where one was set. */
export function isStartUpTaint(taint: Taint, { taint: wanted }: Pick<StartUp, 'taint'>): boolean {
  const { key, effect, value } = wanted;
  const isSame = taint.key === key && taint.effect === effect;
  return isSame && (value === undefined || value === (taint.value ?? ''));
}

/** As `parseStartUpTaint` reads it. */
export function startUpTaintText({ key, value, effect }: Taint): string {
  return `${key}${value === undefined ? '' : `=${value}`}:${effect}`;
}
