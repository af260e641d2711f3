/**
 * Reads the stack's tables, queues and account, and their facts about a cluster.
 *
 * Nothing is asked of a cluster, and nothing is taken out of a queue.
 */
import { EKSClient } from '@aws-sdk/client-eks';
import { GetRoleCommand, IAMClient, NoSuchEntityException } from '@aws-sdk/client-iam';
import { defined } from '@rollcall/base/defined.ts';
import { RELEASE } from '../../../functions/release.ts';
import { CALL_LIMITS, createAwsClient } from '../../adapters/aws/create-client.ts';
import { createFleetReader } from '../../adapters/policy/fleet/fleet-reader.ts';
import { inspectQueue } from '../../adapters/sqs/queue-inspection.ts';
import { checked, unchecked } from '../../app/checks/needs.ts';
import type { Checked, FleetsFact, Needs, Readers, RefusalFact } from '../../app/checks/needs.ts';
import { eksNamesakes } from '../../app/clusters/eks-namesakes.ts';
import { readRegistry, type RegistryContent } from '../../app/clusters/read-registry.ts';
import { findMissedRuns, readStanding } from '../../app/why/standing.ts';
import { fleetsOn, listEveryRecord, readEveryFleet } from '../../app/fleet/find-fleet.ts';
import type { EveryFleet, EveryRecord } from '../../app/fleet/find-fleet.ts';
import { missedStepSinceMs } from '../../app/fleet/rollout/find-fleet-rollout.ts';
import { formatFleetKey } from '../../core/fleet/fleet-daemon-set.ts';
import type { ClusterRegistration } from '../../core/model/registration.ts';
import { copilotStanding, type CopilotStanding } from '../../core/may-act/opt-in.ts';
import { hasSentinelName } from '../../core/may-act/takeover-sentinel.ts';
import { examineAccessEntries, principalsOf } from '../cluster/add/access-entries.ts';
import { roleName } from '../cluster/roles/roles.ts';
import { readFreezeIn } from '../command-line/freeze-words.ts';
import { NOT_LOCAL, type Stack, type StackOutputName } from '../reach/stack.ts';

const DAY_MS = 86_400_000;
/** DaemonSets whose observedGeneration is looked at, in observe. */
const DAEMON_SETS_MAX = 50;
/** No controller may have looked at a DaemonSet this young. */
const NEW_MS = 60_000;

const DEAD_LETTER_QUEUES: Readonly<Record<string, StackOutputName>> = {
  events: 'EventsDeadLetterQueueUrl',
  reconcile: 'ReconcileDeadLetterQueueUrl',
  delay: 'DelayDeadLetterQueueUrl',
  credentials: 'CredentialsDeadLetterQueueUrl',
};

type StackNeed = 'freeze' | 'standing' | 'deployment' | 'eventsQueue' | 'deadLetterQueues';

export function stackReaders(
  stack: Stack,
  { freeze, standing }: Pick<StackWide, 'freeze' | 'standing'>,
): Readers<StackNeed> {
  const { sqs, outputs } = stack;
  const { Release: release, FleetScheduleName: schedule } = outputs;
  const place = schedule === NOT_LOCAL ? ({ place: 'in-process' } as const) : {};
  const deployment = checked({ release, ownRelease: RELEASE, ...place });
  return {
    freeze: ['the freeze', async () => checked(await freeze())],
    standing: ['how the functions stand', async () => checked(await standing())],
    deployment: ['the deployment', () => Promise.resolve(deployment)],
    eventsQueue: [
      'the events queue',
      async () => checked(await inspectQueue(sqs, outputs.EventsQueueUrl)),
    ],
    deadLetterQueues: [
      'the dead-letter queues',
      async () =>
        checked(
          await Promise.all(
            Object.entries(DEAD_LETTER_QUEUES).map(async ([name, output]) => ({
              name,
              fact: await inspectQueue(sqs, outputs[output]),
            })),
          ),
        ),
    ],
  };
}

/** Facts that all clusters of a stack share, read at the first question alone. Each may reject. */
export interface StackWide {
  readonly freeze: () => Promise<Needs['freeze']>;
  readonly standing: () => Promise<Needs['standing']>;
  readonly fleets: () => Promise<EveryFleet & Pick<EveryRecord, 'records'>>;
  readonly registry: () => Promise<RegistryContent>;
}

export function openStackWide(
  stack: Pick<Stack, 'fleets' | 'rollouts' | 'registry' | 'freezes' | 'view'>,
): StackWide {
  const { fleets, rollouts, registry } = stack;
  return {
    freeze: once(() => readFreezeIn(stack)),
    standing: once(() => readStanding(stack)),
    fleets: once(async () => {
      const every = await readEveryFleet({ fleets, reader: createFleetReader() });
      const { records } = await listEveryRecord(rollouts);
      return { ...every, records };
    }),
    registry: once(() => readRegistry(registry)),
  };
}

function once<T>(read: () => Promise<T>): () => Promise<T> {
  let asked: Promise<T> | undefined;
  return () => (asked ??= read());
}

type KnownNeed =
  | 'token'
  | 'sender'
  | 'accessEntries'
  | 'refusals'
  | 'namesakes'
  | 'meta'
  | 'missed'
  | 'observed'
  | 'fleets';

/** Facts about one cluster. `profile`: AWS profile of the account where it is. */
export function knownReaders(
  registration: ClusterRegistration,
  stack: Stack,
  { wide, profile }: { readonly wide: StackWide; readonly profile?: string },
): Readers<KnownNeed> {
  const { clock, view } = stack;
  return {
    token: ['the sealed token', () => readToken(stack, registration)],
    sender: ['the watcher’s role', () => readSender(stack, registration, profile)],
    accessEntries: ['the access entries', () => readAccessEntries(stack, registration, profile)],
    refusals: ['refused messages', () => readRefusals(stack, registration)],
    namesakes: [
      'names in EKS',
      async () => {
        // Only EKS names a cluster: of others the registry is not asked.
        if (registration.authentication.kind !== 'eks') return checked([]);
        return checked(eksNamesakes(registration, (await wide.registry()).registrations));
      },
    ],
    meta: ['the view', async () => checked(await view.readMeta(registration.clusterUid))],
    missed: ['runs', async () => checked(await findMissedRuns(registration, stack, clock.nowMs()))],
    observed: ['the DaemonSets', () => readObserved(stack, registration)],
    fleets: ['the FleetDaemonSets', () => readFleets(registration, wide, clock.nowMs())],
  };
}

/** The watcher's role in the account of `profile`, or of the stack. */
async function readSender(
  stack: Stack,
  { id }: ClusterRegistration,
  profile: string | undefined,
): Promise<Checked<Needs['sender']>> {
  const { stage, aws } = stack;
  if (stage === 'local') return unchecked('at stage local a sender is told by its access key');
  const name = roleName({ stage, id, part: 'watcher' });
  const credentials = { ...aws, ...defined({ profile }) };
  const client = createAwsClient(IAMClient, CALL_LIMITS.command, credentials);
  try {
    const { Role } = await client.send(new GetRoleCommand({ RoleName: name }));
    return checked({ roleName: name, roleId: Role?.RoleId });
  } catch (error) {
    if (!(error instanceof NoSuchEntityException)) throw error;
    if (profile !== undefined) return checked({ roleName: name, roleId: undefined });
    return unchecked(
      `there is no role ${name} in the account of the stack; pass --cluster-profile to look in the cluster’s own`,
    );
  } finally {
    client.destroy();
  }
}

/** Refused messages of the last day: the cluster's own, and those of senders who claim to be it. */
export async function readRefusals(
  { registry, clock }: Stack,
  { id }: ClusterRegistration,
): Promise<Checked<readonly RefusalFact[]>> {
  const sinceMs = clock.nowMs() - DAY_MS;
  const senders = ['verified', 'unverified'] as const;
  const notes = await Promise.all(senders.map((sender) => registry.listRefusals(id, sender)));
  const refusals = notes
    .flat()
    .filter(({ atMs }) => atMs >= sinceMs)
    .map(({ sender, senderRoleId, queue, code, atMs, detail }) => ({
      ...{ queue, code, atMs, detail },
      ...(sender === 'unverified' ? defined({ senderRoleId }) : {}),
    }));
  return checked(refusals.toSorted((left, right) => left.atMs - right.atMs));
}

/** The sealed token, of which only the times are looked at. */
export async function readToken(
  { credentials }: Stack,
  { id, authentication }: ClusterRegistration,
): Promise<Checked<Needs['token']>> {
  if (authentication.kind !== 'bound-token') return unchecked('there is none');
  const token = await credentials.readToken(id, 'act');
  if (token === undefined) return checked({ kind: 'missing' });
  const { clusterUid, issuedAtMs, expiresAtMs } = token;
  return checked({ kind: 'found', clusterUid, issuedAtMs, expiresAtMs });
}

/** Whether a controller observes the DaemonSets of a cluster outside of takeover, and which opted in: read from the view. */
async function readObserved(
  { view, clock }: Stack,
  { mode, clusterUid }: ClusterRegistration,
): Promise<Checked<Needs['observed']>> {
  if (mode === 'takeover') return unchecked('Rollcall manages them');
  const { names } = await view.listNames(clusterUid, { limit: DAEMON_SETS_MAX });
  const items = await Promise.all(
    names.map(async ({ uid }) =>
      uid === null ? undefined : view.readDaemonSet({ clusterUid, uid }),
    ),
  );
  const objects = items
    .map((item) => item?.object ?? undefined)
    .filter((object) => object !== undefined)
    .filter(({ metadata }) => !hasSentinelName(metadata));
  const behind = objects.filter(({ metadata, status }) => {
    const ageMs = clock.nowMs() - Date.parse(metadata.creationTimestamp ?? '');
    const generation = typeof metadata.generation === 'number' ? metadata.generation : 0;
    return !(ageMs < NEW_MS) && (status?.observedGeneration ?? 0) < generation;
  });
  const namesOf = (some: typeof objects): readonly string[] =>
    some.map(({ metadata }) => `${metadata.namespace ?? ''}/${metadata.name}`);
  const standing = (which: CopilotStanding): readonly string[] =>
    namesOf(objects.filter((object) => copilotStanding(object) === which));
  return checked({
    total: objects.length,
    behind: namesOf(behind),
    followed: standing('followed'),
    rollingUpdate: standing('rolling-update'),
  });
}

/** Asks EKS in the account of `profile`, or of the stack; IAM in that of the stack, where the roles are. */
async function readAccessEntries(
  { stage, aws, outputs }: Pick<Stack, 'stage' | 'aws' | 'outputs'>,
  { authentication }: Pick<ClusterRegistration, 'authentication'>,
  profile: string | undefined,
): Promise<Checked<Needs['accessEntries']>> {
  if (authentication.kind !== 'eks') return unchecked('it is no cluster of EKS');
  if (stage === 'local') return unchecked('at stage local there is no EKS');
  const { clusterName, region } = authentication;
  const inCluster = { ...aws, region, ...defined({ profile }) };
  const eks = createAwsClient(EKSClient, CALL_LIMITS.command, inCluster);
  const iam = createAwsClient(IAMClient, CALL_LIMITS.command, { ...aws });
  try {
    const principals = principalsOf(outputs);
    return checked(await examineAccessEntries({ eks, iam }, clusterName, principals));
  } finally {
    eks.destroy();
    iam.destroy();
  }
}

/** FleetDaemonSets that are placed on a cluster, and whether the function `fleet` made the step that was due. */
export async function readFleets(
  registration: ClusterRegistration,
  wide: Pick<StackWide, 'fleets'>,
  nowMs: number,
): Promise<Checked<FleetsFact>> {
  const { fleets, unreadable, records } = await wide.fleets();
  const placed = fleetsOn(registration, fleets);
  return checked({
    placed: placed.map(formatFleetKey),
    unreadable: unreadable.map(formatFleetKey),
    late: placed.flatMap((fleet) => {
      const record = records.get(formatFleetKey(fleet));
      const sinceMs = missedStepSinceMs({ head: fleet.head, ...defined({ record }) }, nowMs);
      return sinceMs === undefined ? [] : [{ fleet: formatFleetKey(fleet), sinceMs }];
    }),
  });
}
