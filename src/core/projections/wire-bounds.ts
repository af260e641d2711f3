/**
 * What a message holds of an object at most: the watcher's check of what it sends, and the schema of what is received.
 *
 * `ingest` refuses a message as a whole, so one object out of bounds would cost a cluster its view (protocol 22, L4): it
 * travels opaque instead. Bounds are those of Kubernetes and SQS with some room, so that no legitimate object is refused
 * and no field can be used to write a second log line, a path or a prototype (faults 67).
 */
import { isJsonObject, type JsonObject } from '@rollcall/base/json.ts';
import type { Taint } from '@rollcall/base/objects.ts';

type IsText = (value: unknown) => value is string;

function textOf(pattern: RegExp): IsText {
  return (value): value is string => typeof value === 'string' && pattern.test(value);
}

/** metadata.name, as far as the four watched kinds go: DNS-1123 subdomains. */
export const isObjectName = textOf(/^[a-z0-9][a-z0-9.-]{0,252}$/);

/** metadata.namespace: a DNS-1123 label. */
export const isNamespace = textOf(/^[a-z0-9][a-z0-9-]{0,62}$/);

/** metadata.uid (a UUID nearly always, but any token is legal), an incarnation, a request id, a timer id. */
export const isToken = textOf(/^[A-Za-z0-9._:-]{1,128}$/);

/** A prefix of 253 characters, a slash, a name of 63: Kubernetes' own bound. Printable, no blanks. */
const isLabelKey = textOf(/^[\x21-\x7e]{1,317}$/);

/** Value of a label, or of a taint: Kubernetes' own bound. */
export const isLabelValue = textOf(/^[\x21-\x7e]{0,63}$/);

/** Key of a taint: that of a label, or none. */
export const isTaintKey = textOf(/^[\x21-\x7e]{0,317}$/);

/** Effect of a taint: any short word, as an API server may learn one that we do not know. */
export const isTaintEffect = textOf(/^[A-Za-z]{1,63}$/);

/** Labels, or taints, of one object. */
export const ENTRIES_MAX = 1000;

/** Labels. Checked in place: a copy would cost more than all the rest of a pod. */
export function isLabels(value: unknown): value is Readonly<Record<string, string>> {
  if (!isJsonObject(value)) return false;
  let count = 0;
  for (const key in value) {
    count += 1;
    if (!isLabelKey(key) || key === '__proto__' || !isLabelValue(value[key])) return false;
  }
  return count <= ENTRIES_MAX;
}

/** Taints of a node. */
export function areTaints(taints: readonly Taint[]): boolean {
  const isTaint = ({ key, value = '', effect }: Taint): boolean =>
    isTaintKey(key) && isLabelValue(value) && isTaintEffect(effect);
  return taints.length <= ENTRIES_MAX && taints.every(isTaint);
}

/** Deeper than any pod template; far below what a recursive walk, as for the canonical text, can take. */
const DEPTH_MAX = 60;

/** A raw DaemonSet: it has a template, is not nested too deeply, and has no key `__proto__`. */
export function isDaemonSet(value: unknown): value is JsonObject {
  if (!isJsonObject(value)) return false;
  const { spec } = value;
  if (!isJsonObject(spec) || !isJsonObject(spec['template'])) return false;
  const pending: (readonly [object, number])[] = [[value, 0]];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const [current, depth] = next;
    if (depth >= DEPTH_MAX || Object.hasOwn(current, '__proto__')) return false;
    for (const member of Object.values(current) as readonly unknown[]) {
      if (typeof member === 'object' && member !== null) pending.push([member, depth + 1]);
    }
  }
  return true;
}
