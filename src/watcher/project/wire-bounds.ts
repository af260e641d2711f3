/**
 * What a message's reader accepts, as far as objects of a cluster could break it.
 *
 * `ingest` refuses a message as a whole, so one object out of bounds would cost a cluster its view
 * (protocol 22, L4). Such an object travels opaque instead. The bounds here are those of the reader's
 * schema (src/adapters/sqs), or tighter; a property test holds the two together.
 */
import { isJsonObject, type JsonObject } from '@rollcall/base/json.ts';
import type { Taint } from '@rollcall/base/objects.ts';

const OBJECT_NAME = /^[a-z0-9][a-z0-9.-]{0,252}$/;
const NAMESPACE = /^[a-z0-9][a-z0-9-]{0,62}$/;
const TOKEN = /^[A-Za-z0-9._:-]{1,128}$/;
const TAINT_EFFECT = /^[A-Za-z]{1,63}$/;
const ENTRIES_MAX = 1000;
const LABEL_KEY = /^[\x21-\x7e]{1,317}$/;
const TAINT_KEY = /^[\x21-\x7e]{0,317}$/;
const LABEL_VALUE = /^[\x21-\x7e]{0,63}$/;
/** Deeper than any pod template; the canonical text recurses. */
const DEPTH_MAX = 60;

/** A DNS-1123 subdomain, roughly: names of all four kinds. */
export function isObjectName(name: string): boolean {
  return OBJECT_NAME.test(name);
}

/** A DNS-1123 label, roughly. */
export function isNamespace(name: string): boolean {
  return NAMESPACE.test(name);
}

/** A uid or a request id. */
export function isToken(text: string): boolean {
  return TOKEN.test(text);
}

/** Labels of an object. */
export function isSendableLabels(labels: Readonly<Record<string, string>>): boolean {
  let count = 0;
  for (const key in labels) {
    count += 1;
    if (!LABEL_KEY.test(key) || key === '__proto__') return false;
    if (!LABEL_VALUE.test(labels[key] ?? '')) return false;
  }
  return count <= ENTRIES_MAX;
}

/** Taints of a node. */
export function isSendableTaints(taints: readonly Taint[]): boolean {
  const isSendable = ({ key, value = '', effect }: Taint): boolean =>
    TAINT_KEY.test(key) && LABEL_VALUE.test(value) && TAINT_EFFECT.test(effect);
  return taints.length <= ENTRIES_MAX && taints.every(isSendable);
}

/** A raw DaemonSet: it has a template, is not nested too deeply, and has no key that is none. */
export function isSendableDaemonSet(raw: JsonObject): boolean {
  const { spec } = raw;
  if (!isJsonObject(spec) || !isJsonObject(spec['template'])) return false;
  const pending: (readonly [object, number])[] = [[raw, 0]];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const [current, depth] = next;
    if (depth >= DEPTH_MAX || Object.hasOwn(current, '__proto__')) return false;
    for (const member of Object.values(current) as readonly unknown[]) {
      if (typeof member === 'object' && member !== null) pending.push([member, depth + 1]);
    }
  }
  return true;
}
