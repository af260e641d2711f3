/**
 * Which ConfigMaps and Secrets a container's environment and a pod's volumes need, and what is missing.
 *
 * What is optional is never missing. Differs from Kubernetes: reads go to the API each time, where the kubelet watches what
 * its pods refer to.
 */
import type { Json } from '@rollcall/base/json.ts';
import { isJsonObject, jsonItems, jsonMember } from '@rollcall/base/json.ts';
import type { LocalClient } from '../../client/local-client.ts';
import type { ContainerSpec, PodObject, VolumeSpec } from './pod-object.ts';

/** A ConfigMap or Secret, and a key in it if one is named. */
interface ConfigReference {
  readonly resource: 'configmaps' | 'secrets';
  readonly name: string;
  readonly key?: string;
}

/** By container: the first thing that is missing, as the kubelet words it. Empty when nothing is. */
export async function findConfigErrors(
  client: LocalClient,
  pod: PodObject,
): Promise<ReadonlyMap<string, string>> {
  const errors = new Map<string, string>();
  for (const container of [...(pod.spec.initContainers ?? []), ...pod.spec.containers]) {
    const error = await firstMissing(client, pod, referencesOfContainer(container));
    if (error !== undefined) errors.set(container.name, error);
  }
  return errors;
}

/** What the volume cannot be mounted without and is missing; undefined when nothing is. */
export function findMissingOfVolume(
  client: LocalClient,
  pod: PodObject,
  volume: VolumeSpec,
): Promise<string | undefined> {
  return firstMissing(client, pod, referencesOfVolume(volume));
}

function referencesOfContainer(container: ContainerSpec): readonly ConfigReference[] {
  const fromEnv = (container.env ?? []).flatMap(({ valueFrom }) => [
    ...references('configmaps', jsonMember(valueFrom, 'configMapKeyRef')),
    ...references('secrets', jsonMember(valueFrom, 'secretKeyRef')),
  ]);
  const fromSources = (container.envFrom ?? []).flatMap((source) => [
    ...references('configmaps', source['configMapRef']),
    ...references('secrets', source['secretRef']),
  ]);
  return [...fromEnv, ...fromSources];
}

function referencesOfVolume(volume: VolumeSpec): readonly ConfigReference[] {
  const sources = jsonItems(jsonMember(volume['projected'], 'sources')).filter(isJsonObject);
  return [volume, ...sources].flatMap((part) => [
    ...references('configmaps', part['configMap']),
    ...references('secrets', part['secret']),
  ]);
}

/** One reference for each key that is named, by `key` or by `items`; else one to the whole object. */
function references(
  resource: ConfigReference['resource'],
  source: Json | undefined,
): readonly ConfigReference[] {
  const name = jsonMember(source, 'name') ?? jsonMember(source, 'secretName');
  if (typeof name !== 'string' || jsonMember(source, 'optional') === true) return [];
  const items = jsonItems(jsonMember(source, 'items')).map((item) => jsonMember(item, 'key'));
  const keys = [jsonMember(source, 'key'), ...items].filter((key) => typeof key === 'string');
  return keys.length === 0 ? [{ resource, name }] : keys.map((key) => ({ resource, name, key }));
}

async function firstMissing(
  client: LocalClient,
  pod: PodObject,
  needed: readonly ConfigReference[],
): Promise<string | undefined> {
  const namespace = pod.metadata.namespace ?? 'default';
  for (const { resource, name, key } of needed) {
    const isConfigMap = resource === 'configmaps';
    const outcome = await client.get({ resource, namespace, name });
    if (outcome.kind === 'refused') {
      const { reason, message = 'not readable' } = outcome.status;
      if (reason !== 'NotFound') return message;
      return `${isConfigMap ? 'configmap' : 'secret'} "${name}" not found`;
    }
    if (key === undefined) continue;
    const { data, binaryData } = outcome.object;
    const hasKey = [data, binaryData].some((map) => isJsonObject(map) && map[key] !== undefined);
    const kind = isConfigMap ? 'ConfigMap' : 'Secret';
    if (!hasKey) return `couldn't find key ${key} in ${kind} ${namespace}/${name}`;
  }
  return undefined;
}
