/**
 * Which ConfigMaps and Secrets a container's environment and a pod's volumes need, and what is missing.
 *
 * What is optional is never missing.
 * Differs from Kubernetes: reads go to the API each time, where the kubelet watches what its pods refer to.
 */
import type { Json, JsonObject } from '@rollcall/base/json.ts';
import { isJsonObject, jsonItems, jsonMember } from '@rollcall/base/json.ts';
import type { LocalClient } from '../../client/local-client.ts';
import type { ContainerSpec, PodObject, VolumeSpec } from './pod-object.ts';

/** A ConfigMap or Secret, and a key in it if one is named. */
interface ConfigReference {
  readonly resource: 'configmaps' | 'secrets';
  readonly name: string;
  readonly key?: string;
}

/** The references of a container's env and envFrom that are not optional. */
function configReferences(container: ContainerSpec): readonly ConfigReference[] {
  const fromEnv = (container.env ?? []).flatMap(({ valueFrom }) =>
    isJsonObject(valueFrom)
      ? [
          ...referenceOf('configmaps', valueFrom['configMapKeyRef']),
          ...referenceOf('secrets', valueFrom['secretKeyRef']),
        ]
      : [],
  );
  const fromSources = (container.envFrom ?? []).flatMap((source) => [
    ...referenceOf('configmaps', source['configMapRef']),
    ...referenceOf('secrets', source['secretRef']),
  ]);
  return [...fromEnv, ...fromSources];
}

function referenceOf(
  resource: ConfigReference['resource'],
  reference: JsonObject[string],
): readonly ConfigReference[] {
  if (!isJsonObject(reference) || reference['optional'] === true) return [];
  const { name, key } = reference;
  if (typeof name !== 'string') return [];
  return [typeof key === 'string' ? { resource, name, key } : { resource, name }];
}

/** By container: the first thing that is missing, as the kubelet words it. Empty when nothing is. */
export async function findConfigErrors(
  client: LocalClient,
  pod: PodObject,
): Promise<ReadonlyMap<string, string>> {
  const errors = new Map<string, string>();
  for (const container of [...(pod.spec.initContainers ?? []), ...pod.spec.containers]) {
    for (const reference of configReferences(container)) {
      const error = await findMissing(client, pod.metadata.namespace ?? 'default', reference);
      if (error === undefined) continue;
      errors.set(container.name, error);
      break;
    }
  }
  return errors;
}

/** What is missing of one reference; undefined when nothing is. */
async function findMissing(
  client: LocalClient,
  namespace: string,
  reference: ConfigReference,
): Promise<string | undefined> {
  const { resource, name, key } = reference;
  const outcome = await client.get({ resource, namespace, name });
  if (outcome.kind === 'refused') {
    const isMissing = outcome.status.reason === 'NotFound';
    const kind = resource === 'configmaps' ? 'configmap' : 'secret';
    return isMissing ? `${kind} "${name}" not found` : (outcome.status.message ?? 'not readable');
  }
  if (key === undefined) return undefined;
  const { data, binaryData } = outcome.object;
  const hasKey = [data, binaryData].some((map) => isJsonObject(map) && map[key] !== undefined);
  const kind = resource === 'configmaps' ? 'ConfigMap' : 'Secret';
  return hasKey ? undefined : `couldn't find key ${key} in ${kind} ${namespace}/${name}`;
}

/** What the volume cannot be mounted without and is missing; undefined when nothing is. */
export async function findMissingOfVolume(
  client: LocalClient,
  pod: PodObject,
  volume: VolumeSpec,
): Promise<string | undefined> {
  const sources = jsonItems(jsonMember(volume['projected'], 'sources'));
  for (const part of [volume, ...sources.filter(isJsonObject)]) {
    const secretName = part === volume ? 'secretName' : 'name';
    const references = [
      ...volumeReferences('configmaps', part['configMap'], 'name'),
      ...volumeReferences('secrets', part['secret'], secretName),
    ];
    for (const reference of references) {
      const missing = await findMissing(client, pod.metadata.namespace ?? 'default', reference);
      if (missing !== undefined) return missing;
    }
  }
  return undefined;
}

function volumeReferences(
  resource: ConfigReference['resource'],
  source: Json | undefined,
  nameField: string,
): readonly ConfigReference[] {
  const name = jsonMember(source, nameField);
  if (typeof name !== 'string' || jsonMember(source, 'optional') === true) return [];
  const keys = jsonItems(jsonMember(source, 'items')).map((item) => jsonMember(item, 'key'));
  const named = keys.filter((key) => typeof key === 'string');
  return named.length === 0 ? [{ resource, name }] : named.map((key) => ({ resource, name, key }));
}
