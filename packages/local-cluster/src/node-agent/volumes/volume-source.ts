/** What a volume of a pod needs before it can be mounted: ConfigMaps and Secrets that must exist. Pure. */
import type { Json, JsonObject } from '@rollcall/base/json.ts';
import { isJsonObject } from '@rollcall/base/json.ts';
import type { ConfigReference } from '../shared/config-references.ts';
import type { VolumeSpec } from '../shared/pod-object.ts';

/** The ConfigMaps and Secrets without which the volume cannot be mounted. */
export function volumeReferences(volume: VolumeSpec): readonly ConfigReference[] {
  const { projected } = volume;
  const sources = isJsonObject(projected) ? projected['sources'] : undefined;
  const parts = Array.isArray(sources) ? (sources as readonly Json[]).filter(isJsonObject) : [];
  return [volume, ...parts].flatMap((part) => [
    ...references('configmaps', part['configMap'], 'name'),
    ...references('secrets', part['secret'], part === volume ? 'secretName' : 'name'),
  ]);
}

function references(
  resource: ConfigReference['resource'],
  source: Json | undefined,
  nameField: string,
): readonly ConfigReference[] {
  if (!isJsonObject(source) || source['optional'] === true) return [];
  const name = source[nameField];
  if (typeof name !== 'string') return [];
  const keys = keysOf(source);
  if (keys.length === 0) return [{ resource, name }];
  return keys.map((key) => ({ resource, name, key }));
}

function keysOf({ items }: JsonObject): readonly string[] {
  if (!Array.isArray(items)) return [];
  return (items as readonly Json[]).flatMap((item) => {
    const key = isJsonObject(item) ? item['key'] : undefined;
    return typeof key === 'string' ? [key] : [];
  });
}
