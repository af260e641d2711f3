/**
 * What is told of a DaemonSet whose object is too large to be sent: all but its template, labels and foreign annotations.
 *
 * For people alone: who decides reads the object live (protocol 22).
 */
import { canonicalJson } from '@rollcall/base/json.ts';
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import type { DaemonSetOutline } from '../model/projections.ts';

/** So many characters are sent without a thought of the size of a message. */
const OUTLINE_CHARS_MAX = 16_384;
const METADATA = ['name', 'namespace', 'uid', 'resourceVersion', 'generation', 'deletionTimestamp'];

/** The outline; undefined: even that would be long. `size`: of the whole, and the most that is sent. */
export function outlineOf(
  { apiVersion, kind, metadata, spec, status }: DaemonSetObject,
  size: Omit<DaemonSetOutline, 'object'>,
): DaemonSetOutline | undefined {
  const own = Object.entries(metadata).filter(([name]) => METADATA.includes(name));
  const annotations = Object.entries(metadata.annotations ?? {}).filter(([name]) =>
    name.startsWith('rollcall.dev/'),
  );
  const object = {
    apiVersion,
    kind,
    metadata: { ...Object.fromEntries(own), annotations: Object.fromEntries(annotations) },
    spec: { ...spec, template: {} },
    status: status ?? {},
  } as unknown as DaemonSetObject; // raw JSON stays raw: readers check what they read
  const text = canonicalJson(object as unknown as Parameters<typeof canonicalJson>[0]);
  return text.length > OUTLINE_CHARS_MAX ? undefined : { ...size, object };
}
