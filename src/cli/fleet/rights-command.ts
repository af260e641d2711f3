/**
 * `rollcall fleet rights`: prints what a cluster has to grant for the FleetDaemonSets placed there.
 * With `-f` also for one not yet applied, since what is no longer named loses the right. With
 * `--fence` also a policy that holds them to what their manifests have now. It changes nothing.
 */
import { stringify } from 'yaml';
import { createFleetReader } from '../../adapters/policy/fleet/fleet-reader.ts';
import { fleetsOn, readEveryFleet } from '../../app/fleet/find-fleet.ts';
import { formatFleetKey } from '../../core/fleet/fleet-daemon-set.ts';
import type { FleetDaemonSet } from '../../core/fleet/fleet-daemon-set.ts';
import { fleetRenderer } from '../../core/fleet/render-fleet.ts';
import type { ClusterRegistration } from '../../core/model/registration.ts';
import { parseClusterId, requireRegistration } from '../command-line/cluster-arguments.ts';
import { defineCommand, flagOption } from '../command-line/command-module.ts';
import type { CommandModule } from '../command-line/command-module.ts';
import { failure } from '../process/exit-codes.ts';
import type { Stack } from '../reach/stack.ts';
import { FILE_OPTIONS, readFleetFile } from './fleet-arguments.ts';
import { fleetNames, fleetRights, FROM_FUNCTIONS, MAY_ROLL_OUT } from './fleet-manifests.ts';
import * as v from 'valibot';
import type { Manifest } from './fleet-manifests.ts';

export const fleetRightsCommand: CommandModule = defineCommand({
  path: ['fleet', 'rights'],
  documents: ['FleetRights'],
  summary: 'print the manifests that a cluster needs for its FleetDaemonSets',
  about: [
    'It prints a Role and a binding for each namespace, for all FleetDaemonSets that are placed there, and for the one of -f.',
    'A FleetDaemonSet that it does not name loses the right when you apply the output.',
  ],
  exits: { failed: 'no FleetDaemonSet is placed there' },
  examples: ['fleet rights prod-eu-1 | kubectl apply -f -'],
  args: [['<cluster>', 'id of the cluster']],
  options: {
    ...FILE_OPTIONS,
    fence: flagOption(
      '--fence',
      'and a policy that holds them to the privileges of their manifests',
    ),
  },
  run: async ({ args, options }, context) => {
    const id = parseClusterId(args[0] ?? '');
    const added = options.filename === undefined ? [] : [readFleetFile(options.filename).fleet];
    const stack = await context.openStack();
    const cluster = await requireRegistration(stack.registry, id);
    const { mode } = cluster;
    const every = await everyFleet(stack);
    const names = new Set(added.map(formatFleetKey));
    const others = every.filter((fleet) => !names.has(formatFleetKey(fleet)));
    const fleets = fleetsOn(cluster, [...others, ...added]).map(formatFleetKey);
    if (fleets.length === 0) {
      throw failure(
        `No FleetDaemonSet is placed on ${id}: it needs no rights for one.`,
        'Pass -f FILE for one that is not applied yet; rollcall cluster show has the labels by which clusters are placed.',
      );
    }
    context.say(`for ${fleets.join(', ')}, in a cluster in ${mode}`);
    const documents = [...every, ...added];
    const manifests = [
      ...fleetRights(fleetNames(fleets)),
      ...(options.fence === true ? fleetFence(printedPowers(cluster, fleets, documents)) : []),
    ];
    const text = manifests.map((object) => stringify(object, { lineWidth: 0 })).join('---\n');
    return {
      document: { kind: 'FleetRights', cluster: id, mode, fleets, manifests },
      lines: [text.trimEnd()],
    };
  },
});

/** Throws CommandError when one cannot be read: its name would lose the right. */
async function everyFleet({ fleets }: Pick<Stack, 'fleets'>): Promise<readonly FleetDaemonSet[]> {
  const every = await readEveryFleet({ fleets, reader: createFleetReader() });
  if (every.unreadable.length > 0) {
    throw failure(
      `Another release applied what this one cannot read: ${every.unreadable.map(formatFleetKey).join(', ')}.`,
      'Use the rollcall command of the release that is deployed: a DaemonSet that is not named loses the right.',
    );
  }
  return every.fleets;
}

/** Of each of these what the documents give the cluster: with `-f` that of the file, and what was applied before it. */
function printedPowers(
  cluster: ClusterRegistration,
  keys: readonly string[],
  documents: readonly FleetDaemonSet[],
): ReadonlyMap<string, readonly string[]> {
  const placed = fleetsOn(cluster, documents);
  return new Map(
    keys.map((key) => {
      const words = placed
        .filter((fleet) => formatFleetKey(fleet) === key)
        .flatMap((fleet) => powersIn(cluster, fleet));
      return [key, [...new Set(words)].sort()];
    }),
  );
}

function powersIn(cluster: ClusterRegistration, fleet: FleetDaemonSet): readonly string[] {
  const rendering = fleetRenderer(fleet)(cluster);
  if (rendering.kind === 'rendered') return powersOf(rendering.manifest.spec.template.spec);
  const problems = rendering.problems.map(({ field, message }) => `${field} ${message}`);
  throw failure(
    `${formatFleetKey(fleet)} gives ${cluster.id} no manifest: ${problems.join('; ')}`,
    'Repair its overrides; rollcall fleet plan -f FILE names every such cluster.',
  );
}

const NAME = 'rollcall-fleet-fence';
const ADMISSION = 'admissionregistration.k8s.io/v1';
const HOST_NAMESPACES = ['hostNetwork', 'hostPID', 'hostIPC'] as const;
/** Kinds of volumes that are no power, or have words of their own. */
const PLAIN_VOLUMES = 'name emptyDir configMap downwardAPI projected secret hostPath'.split(' ');

const named = v.nullish(v.looseObject({ name: v.nullish(v.string(), '') }));
const list = <Item extends v.GenericSchema>(item: Item) => v.nullish(v.array(item), []);
const windows = v.nullish(v.looseObject({ hostProcess: v.nullish(v.boolean()) }));
const user = {
  runAsNonRoot: v.nullish(v.boolean()),
  runAsUser: v.nullish(v.number()),
  windowsOptions: windows,
};
const containerSchema = v.looseObject({
  securityContext: v.nullish(
    v.looseObject({
      ...user,
      privileged: v.nullish(v.boolean()),
      allowPrivilegeEscalation: v.nullish(v.boolean()),
      capabilities: v.nullish(v.looseObject({ add: list(v.string()) })),
    }),
  ),
  volumeMounts: list(v.looseObject({ name: v.string(), readOnly: v.nullish(v.boolean()) })),
  envFrom: list(v.looseObject({ secretRef: named })),
  env: list(v.looseObject({ valueFrom: v.nullish(v.looseObject({ secretKeyRef: named })) })),
});
const podSchema = v.looseObject({
  serviceAccountName: v.nullish(v.string()),
  serviceAccount: v.nullish(v.string()),
  hostNetwork: v.nullish(v.boolean()),
  hostPID: v.nullish(v.boolean()),
  hostIPC: v.nullish(v.boolean()),
  hostUsers: v.nullish(v.boolean()),
  securityContext: v.nullish(v.looseObject(user)),
  containers: v.array(containerSchema),
  initContainers: list(containerSchema),
  volumes: list(
    v.looseObject({
      name: v.string(),
      hostPath: v.nullish(v.looseObject({ path: v.string() })),
      secret: v.nullish(v.looseObject({ secretName: v.nullish(v.string(), '') })),
      projected: v.nullish(v.looseObject({ sources: list(v.looseObject({ secret: named })) })),
    }),
  ),
});
type Pod = v.InferOutput<typeof podSchema>;
type Container = Pod['containers'][number];
type User = Pod['securityContext'];

/** The words for what pods of this spec may do, beside running their image. Throws where it is no pod's. */
export function powersOf(podSpec: unknown): readonly string[] {
  const pod = v.parse(podSchema, podSpec);
  const containers = [...pod.containers, ...pod.initContainers];
  const account = pod.serviceAccountName ?? pod.serviceAccount;
  const words = [
    `serviceAccountName ${account === undefined || account === null || account === '' ? 'default' : account}`,
    ...HOST_NAMESPACES.filter((space) => pod[space] === true),
    ...(pod.hostUsers === false ? [] : ['hostUsers']),
    ...(pod.securityContext?.windowsOptions?.hostProcess === true ? ['privileged'] : []),
    ...pod.volumes.flatMap((volume) => powersOfVolume(volume, containers)),
    ...containers.flatMap((container) => powersOfContainer(container, pod)),
  ];
  return [...new Set(words)].sort();
}

function powersOfVolume(
  volume: Pod['volumes'][number],
  containers: readonly Container[],
): string[] {
  const kinds = Object.keys(volume).filter((kind) => !PLAIN_VOLUMES.includes(kind));
  const secrets = (volume.projected?.sources ?? []).flatMap(({ secret }) => secret?.name ?? []);
  const isWritten = containers.some(({ volumeMounts }) =>
    volumeMounts.some(({ name, readOnly }) => name === volume.name && readOnly !== true),
  );
  const path = volume.hostPath?.path;
  return [
    ...kinds.map((kind) => `volume ${kind}`),
    ...[...secrets, ...(volume.secret ? [volume.secret.secretName] : [])].map(
      (name) => `Secret ${name}`,
    ),
    ...(path === undefined ? [] : [`hostPath ${path}`]),
    ...(path !== undefined && isWritten ? [`writable hostPath ${path}`] : []),
  ];
}

function powersOfContainer(container: Container, pod: Pod): string[] {
  const { securityContext: own } = container;
  const isPrivileged = own?.privileged === true || own?.windowsOptions?.hostProcess === true;
  const secrets = [
    ...container.envFrom.flatMap(({ secretRef }) => secretRef?.name ?? []),
    ...container.env.flatMap(({ valueFrom }) => valueFrom?.secretKeyRef?.name ?? []),
  ];
  return [
    ...(mayBeRoot(own, pod.securityContext) ? ['root'] : []),
    ...(isPrivileged ? ['privileged'] : []),
    ...(own?.allowPrivilegeEscalation === false ? [] : ['allowPrivilegeEscalation']),
    ...(own?.capabilities?.add ?? []).map((capability) => `capability ${capability}`),
    ...secrets.map((name) => `Secret ${name}`),
  ];
}

/** A container's setting counts before its pod's. */
function mayBeRoot(own: User, ofPod: User): boolean {
  const isRefused = own?.runAsNonRoot ?? ofPod?.runAsNonRoot ?? false;
  return !isRefused && (own?.runAsUser ?? ofPod?.runAsUser ?? 0) === 0;
}

const has = (word: string): string => `${word} in variables.printed`;
const inContext = (member: string): string => `c.?securityContext.?${member}`;
const inPod = (member: string): string => `variables.pod.?securityContext.?${member}`;
const eachContainer = (expression: string): string => `variables.containers.all(c, ${expression})`;
const eachVolume = (expression: string): string => `variables.volumes.all(v, ${expression})`;

/** A right, and the CEL that is true of an object which has no more of it than was printed. */
const HELD: readonly (readonly [what: string, expression: string])[] = [
  [
    'serviceAccountName',
    has(`('serviceAccountName ' + variables.pod.?serviceAccountName.orValue('default'))`),
  ],
  [
    'a host namespace',
    `['hostNetwork', 'hostPID', 'hostIPC'].all(k, !variables.pod[?k].orValue(false) || ${has('k')}) && ` +
      `(!variables.pod.?hostUsers.orValue(true) || ${has("'hostUsers'")})`,
  ],
  ['a hostPath', eachVolume(`!has(v.hostPath) || ${has("('hostPath ' + v.hostPath.path)")}`)],
  [
    'a hostPath that is mounted to write',
    eachVolume(
      `!has(v.hostPath) || ${has("('writable hostPath ' + v.hostPath.path)")} || ` +
        eachContainer(
          'c.?volumeMounts.orValue([]).all(m, m.name != v.name || m.?readOnly.orValue(false))',
        ),
    ),
  ],
  [
    'a volume of this kind',
    eachVolume(`v.all(k, k in ['${PLAIN_VOLUMES.join("', '")}'] || ${has("('volume ' + k)")})`),
  ],
  [
    'privileged',
    `${has("'privileged'")} || (!${inPod('windowsOptions.?hostProcess')}.orValue(false) && ` +
      `${eachContainer(`!${inContext('privileged')}.orValue(false) && !${inContext('windowsOptions.?hostProcess')}.orValue(false)`)})`,
  ],
  [
    'allowPrivilegeEscalation',
    `${has("'allowPrivilegeEscalation'")} || ${eachContainer(`!${inContext('allowPrivilegeEscalation')}.orValue(true)`)}`,
  ],
  [
    'a capability',
    eachContainer(
      `${inContext('capabilities.?add')}.orValue([]).all(k, ${has("('capability ' + k)")})`,
    ),
  ],
  [
    'a user that may be root',
    `${has("'root'")} || ${eachContainer(
      `${inContext('runAsNonRoot')}.orValue(${inPod('runAsNonRoot')}.orValue(false)) || ` +
        `${inContext('runAsUser')}.orValue(${inPod('runAsUser')}.orValue(0)) != 0`,
    )}`,
  ],
  [
    'a Secret',
    `${eachVolume(
      `(!has(v.secret) || ${has("('Secret ' + v.secret.?secretName.orValue(''))")}) && ` +
        `v.?projected.?sources.orValue([]).all(s, !has(s.secret) || ${has("('Secret ' + s.secret.?name.orValue(''))")})`,
    )} && ${eachContainer(
      `c.?envFrom.orValue([]).all(e, !has(e.secretRef) || ${has("('Secret ' + e.secretRef.?name.orValue(''))")}) && ` +
        `c.?env.orValue([]).all(e, !has(e.valueFrom) || !has(e.valueFrom.secretKeyRef) || ` +
        `${has("('Secret ' + e.valueFrom.secretKeyRef.?name.orValue(''))")})`,
    )}`,
  ],
];
const ANEW =
  'is not among what rollcall fleet rights --fence printed for this DaemonSet: for a release that needs it, print and apply that anew, with -f FILE';

/** The policy and its binding, by `namespace/name` of every DaemonSet with its words. */
export function fleetFence(printed: ReadonlyMap<string, readonly string[]>): readonly Manifest[] {
  // A string of JSON is one of CEL.
  const entries = [...printed].map(([key, words]) => {
    const quoted = words.map((word) => JSON.stringify(word));
    return `'${key}': [${quoted.join(', ')}]`;
  });
  const key = "request.namespace + '/' + request.name";
  const rule = { apiGroups: ['apps'], apiVersions: ['*'], resources: ['daemonsets'] };
  const metadata = { name: NAME };
  return [
    {
      apiVersion: ADMISSION,
      kind: 'ValidatingAdmissionPolicy',
      metadata,
      spec: {
        failurePolicy: 'Fail',
        matchConstraints: { resourceRules: [{ ...rule, operations: ['CREATE', 'UPDATE'] }] },
        matchConditions: [{ name: 'rollcall', expression: FROM_FUNCTIONS }],
        variables: [
          { name: 'all', expression: `{${entries.join(', ')}}` },
          { name: 'isHeld', expression: `(${key}) in variables.all` },
          { name: 'printed', expression: `variables.all[?(${key})].orValue([])` },
          { name: 'pod', expression: 'object.spec.template.spec' },
          {
            name: 'containers',
            expression:
              'object.spec.template.spec.containers + object.spec.template.spec.?initContainers.orValue([])',
          },
          { name: 'volumes', expression: 'object.spec.template.spec.?volumes.orValue([])' },
        ],
        validations: [
          {
            message: `the DaemonSet ${ANEW}`,
            expression: `variables.isHeld || !${MAY_ROLL_OUT}`,
          },
          ...HELD.map(([what, expression]) => ({
            message: `${what} ${ANEW}`,
            expression: `!variables.isHeld || (${expression})`,
          })),
        ],
      },
    },
    {
      apiVersion: ADMISSION,
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata,
      spec: { policyName: NAME, validationActions: ['Deny'] },
    },
  ];
}
