/**
 * What an API server fills into a DaemonSet that says nothing: a manifest and what became of it are compared without it.
 *
 * By the field's name, as the values of Kubernetes 1.36 (pkg/apis/core/v1/defaults.go, pkg/apis/apps/v1/defaults.go). What
 * is not listed and stands in the cluster alone was written by somebody. Held to the local cluster's defaults by
 * test/unit/core/fleet/compare-manifest.test.ts.
 */
import type { Json } from '@rollcall/base/json.ts';

const DEFAULTS: Readonly<Record<string, readonly Json[]>> = {
  apiVersion: ['v1'],
  defaultMode: [420],
  dnsPolicy: ['ClusterFirst'],
  enableServiceLinks: [true],
  expirationSeconds: [3600],
  failureThreshold: [3],
  // Of the tag: latest is pulled anew.
  imagePullPolicy: ['Always', 'IfNotPresent'],
  maxSurge: [0],
  maxUnavailable: [1],
  periodSeconds: [10],
  protocol: ['TCP'],
  restartPolicy: ['Always'],
  revisionHistoryLimit: [10],
  schedulerName: ['default-scheduler'],
  scheme: ['HTTP'],
  successThreshold: [1],
  terminationGracePeriodSeconds: [30],
  terminationMessagePath: ['/dev/termination-log'],
  terminationMessagePolicy: ['File'],
  timeoutSeconds: [1],
  type: ['', 'RollingUpdate'],
};

/** Filled in from another field of the same object. */
const COPIED: Readonly<Record<string, string>> = {
  hostPort: 'containerPort',
  serviceAccount: 'serviceAccountName',
};

/** Objects that are made of nothing but defaults. */
export const DEFAULTED_OBJECTS: ReadonlySet<string> = new Set(['updateStrategy', 'rollingUpdate']);

/** False and 0 of these are not written: in Go they are values, not pointers. */
const PLAIN_VALUES: ReadonlySet<string> = new Set([
  'hostIPC',
  'hostNetwork',
  'hostPID',
  'hostPort',
  'initialDelaySeconds',
  'minReadySeconds',
  'readOnly',
  'stdin',
  'stdinOnce',
  'tty',
]);

/** Whether the server would have filled this in where nothing was written. */
export function isFilledIn(
  name: string,
  value: Json,
  beside: Readonly<Record<string, unknown>>,
): boolean {
  const copied = Object.hasOwn(COPIED, name) ? COPIED[name] : undefined;
  if (copied !== undefined && beside[copied] === value) return true;
  return Object.hasOwn(DEFAULTS, name) && DEFAULTS[name]?.includes(value) === true;
}

/** Whether the server leaves this out when it writes what it was given. */
export function isLeftOut(name: string, value: Json): boolean {
  return (value === false || value === 0) && PLAIN_VALUES.has(name);
}
