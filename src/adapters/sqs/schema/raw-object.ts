/**
 * Raw JSON inside a message, i.e. a DaemonSet: bounded in depth, without keys that are none.
 *
 * Everything else in a message has a closed schema; what comes through here is walked by the core
 * (canonical text, templates), which recurses. The walk itself does not.
 */
import { isJsonObject } from '@rollcall/base/json.ts';

/** Deeper than any pod template; far below what a recursive walk can take. */
const DEPTH_MAX = 64;

/** True for JSON of bounded depth without the key `__proto__`. */
function isBoundedJson(value: unknown): boolean {
  const pending: (readonly [unknown, number])[] = [[value, 0]];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const [current, depth] = next;
    if (typeof current !== 'object' || current === null) continue;
    if (depth >= DEPTH_MAX || Object.hasOwn(current, '__proto__')) return false;
    for (const member of Object.values(current)) {
      if (typeof member === 'object' && member !== null) pending.push([member, depth + 1]);
    }
  }
  return true;
}

/** Identity that an object must have. */
export interface ExpectedIdentity {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly resourceVersion: string;
}

/** True for a DaemonSet with this identity, a spec and a template. */
export function isDaemonSetOf(value: unknown, expected: ExpectedIdentity): boolean {
  if (!isJsonObject(value) || !isBoundedJson(value)) return false;
  const { metadata, spec } = value;
  if (!isJsonObject(metadata) || !isJsonObject(spec) || !isJsonObject(spec['template']))
    return false;
  return (
    metadata['name'] === expected.name &&
    metadata['namespace'] === expected.namespace &&
    metadata['uid'] === expected.uid &&
    metadata['resourceVersion'] === expected.resourceVersion
  );
}
