/**
 * The bodies of every compared collection.
 */
import { type Bodies, changesOf, makeMetadata, METADATA_CHANGES, sometimes } from './body.ts';
import { EVENT_BODIES, LEASE_BODIES, NAMESPACE_BODIES, NODE_BODIES } from './cluster-objects.ts';
import { CONTROLLER_REVISION_BODIES, DAEMON_SET_BODIES, POD_BODIES } from './workloads.ts';

/** ConfigMaps. */
const CONFIG_MAP_BODIES: Bodies = {
  make: (seeded, identity) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: makeMetadata(seeded, identity),
    ...sometimes(seeded, 0.5, {
      data: { level: 'info', empty: '' },
      binaryData: { blob: 'AAEC' },
    }),
  }),
  changes: [
    ...METADATA_CHANGES,
    ...changesOf([
      ['data.level', 'debug'],
      ['data.level'],
      ['data.level', 5],
      ['data.level', null],
      ['data', null],
      ['data', {}],
      ['data', 'text'],
      ['binaryData.blob', 'not base64!'],
      ['binaryData.blob', 'AAED'],
    ]),
  ],
  statusChanges: [],
};

/** Secrets. */
const SECRET_BODIES: Bodies = {
  make: (seeded, identity) => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: makeMetadata(seeded, identity),
    ...sometimes(seeded, 0.5, {
      data: { password: 'c2VjcmV0', '.dockerconfigjson': 'e30=' },
      stringData: { user: 'me' },
      type: seeded.pick(['Opaque', 'example.com/own']),
    }),
  }),
  changes: [
    ...METADATA_CHANGES,
    ...changesOf([
      ['data.password', 'Y2hhbmdlZA=='],
      ['data.password', 'not base64!'],
      ['data.password', ''],
      ['data.password', null],
      ['stringData.password', 'plain'],
      ['stringData.user', 5],
      ['data'],
      ['type', 'Opaque'],
      ['type', ''],
    ]),
  ],
  statusChanges: [],
};

/** ServiceAccounts. */
const SERVICE_ACCOUNT_BODIES: Bodies = {
  make: (seeded, identity) => ({
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: makeMetadata(seeded, identity),
    ...sometimes(seeded, 0.4, {
      secrets: [{ name: 'token' }],
      imagePullSecrets: [{ name: 'pull' }],
      automountServiceAccountToken: false,
    }),
  }),
  changes: [
    ...METADATA_CHANGES,
    ...changesOf([
      ['secrets', [{ name: 'a' }, { name: 'b' }]],
      ['secrets', []],
      ['secrets', null],
      ['secrets.0.name', 'renamed'],
      ['imagePullSecrets', [{ name: 'added' }]],
      ['automountServiceAccountToken', true],
      ['automountServiceAccountToken', 'no'],
      ['unknownMember', 1],
    ]),
  ],
  statusChanges: [],
};

const BODIES: Readonly<Record<string, Bodies>> = {
  nodes: NODE_BODIES,
  pods: POD_BODIES,
  namespaces: NAMESPACE_BODIES,
  events: EVENT_BODIES,
  configmaps: CONFIG_MAP_BODIES,
  secrets: SECRET_BODIES,
  serviceaccounts: SERVICE_ACCOUNT_BODIES,
  daemonsets: DAEMON_SET_BODIES,
  controllerrevisions: CONTROLLER_REVISION_BODIES,
  leases: LEASE_BODIES,
};

/** The bodies of a collection; throws for one that is not compared. */
export function bodiesOf(plural: string): Bodies {
  const bodies = BODIES[plural];
  if (bodies === undefined) throw new Error(`no bodies for ${plural}`);
  return bodies;
}
