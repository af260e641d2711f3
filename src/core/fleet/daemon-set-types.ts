/**
 * In which structs of a DaemonSet lists merge, and by which key, for strategic merge patches (ADR
 * 0066). Everything else merges member by member, and its lists are replaced. A test holds it to
 * the table that is generated from Go's types.
 */
import type { PatchField, PatchSchema } from '@rollcall/base/patch/patch-types.ts';

type Fields = Readonly<Record<string, PatchField>>;

function object(struct: string): PatchField {
  return { shape: 'object', struct, patchStrategies: [] };
}

function listBy(patchMergeKey: string, struct?: string): PatchField {
  return {
    shape: 'list',
    patchStrategies: ['merge'],
    patchMergeKey,
    ...(struct === undefined ? {} : { struct }),
  };
}

const CONTAINER: Fields = {
  env: listBy('name'),
  ports: listBy('containerPort'),
  volumeDevices: listBy('devicePath'),
  volumeMounts: listBy('mountPath'),
};

const STRUCTS: Readonly<Record<string, Fields>> = {
  DaemonSet: { metadata: object('ObjectMeta'), spec: object('DaemonSetSpec') },
  ObjectMeta: {
    finalizers: { shape: 'list', patchStrategies: ['merge'] },
    ownerReferences: listBy('uid'),
  },
  DaemonSetSpec: { template: object('PodTemplateSpec') },
  PodTemplateSpec: { metadata: object('ObjectMeta'), spec: object('PodSpec') },
  PodSpec: {
    containers: listBy('name', 'Container'),
    ephemeralContainers: listBy('name', 'Container'),
    hostAliases: listBy('ip'),
    imagePullSecrets: listBy('name'),
    initContainers: listBy('name', 'Container'),
    resourceClaims: listBy('name'),
    schedulingGates: listBy('name'),
    topologySpreadConstraints: listBy('topologyKey'),
    volumes: listBy('name', 'Volume'),
  },
  Container: CONTAINER,
  Volume: { ephemeral: object('EphemeralVolumeSource') },
  EphemeralVolumeSource: { volumeClaimTemplate: object('PersistentVolumeClaimTemplate') },
  PersistentVolumeClaimTemplate: { metadata: object('ObjectMeta') },
};

/** The types of a DaemonSet. */
export const DAEMON_SET_TYPES: PatchSchema = {
  field: (struct, name) => {
    const fields = Object.hasOwn(STRUCTS, struct) ? STRUCTS[struct] : undefined;
    return fields !== undefined && Object.hasOwn(fields, name) ? fields[name] : undefined;
  },
};

/** Where patches of a DaemonSet begin. */
export const DAEMON_SET_STRUCT = 'DaemonSet';
