/**
 * Facts from the stack: queues, the sender's role, refused messages, the view.
 *
 * Nothing is asked of the cluster, and nothing is taken out of a queue.
 */
import { GetRoleCommand, IAMClient, NoSuchEntityException } from '@aws-sdk/client-iam';
import { CALL_LIMITS, createAwsClient } from '../../adapters/aws/create-client.ts';
import { inspectQueue } from '../../adapters/sqs/queue-inspection.ts';
import type { ObservedFact, QueueFact, RefusalFact, TokenFact } from '../../app/doctor/facts.ts';
import { checked, unchecked } from '../../app/doctor/finding.ts';
import type { Checked } from '../../app/doctor/finding.ts';
import type { ClusterRegistration } from '../../core/model/registration.ts';
import { copilotStanding } from '../../core/takeover/opt-in.ts';
import type { CopilotStanding } from '../../core/takeover/opt-in.ts';
import { hasSentinelName } from '../../core/takeover/takeover-sentinel.ts';
import { defined } from '@rollcall/base/defined.ts';
import { roleName } from '../cluster/roles/roles.ts';
import type { Stack, StackOutputName } from '../reach/stack.ts';

const DAY_MS = 86_400_000;
/** DaemonSets whose observedGeneration is looked at, in observe. */
const DAEMON_SETS_MAX = 50;
/** A DaemonSet this young may not have been looked at by anybody yet. */
const NEW_MS = 60_000;

/** The queue that watchers send to. */
export async function gatherEventsQueue({ sqs, outputs }: Stack): Promise<Checked<QueueFact>> {
  return checked(await inspectQueue(sqs, outputs.EventsQueueUrl));
}

const DEAD_LETTER_QUEUES: Readonly<Record<string, StackOutputName>> = {
  events: 'EventsDeadLetterQueueUrl',
  reconcile: 'ReconcileDeadLetterQueueUrl',
  delay: 'DelayDeadLetterQueueUrl',
  credentials: 'CredentialsDeadLetterQueueUrl',
};

/** The dead-letter queues. */
export async function gatherDeadLetterQueues({
  sqs,
  outputs,
}: Stack): Promise<Checked<readonly { readonly name: string; readonly fact: QueueFact }[]>> {
  const entries = Object.entries(DEAD_LETTER_QUEUES);
  const facts = await Promise.all(
    entries.map(async ([name, output]) => ({
      name,
      fact: await inspectQueue(sqs, outputs[output]),
    })),
  );
  return checked(facts);
}

/** The watcher's role in the account of `profile`, or of the stack. */
export async function gatherSender(
  stack: Stack,
  { id }: ClusterRegistration,
  profile: string | undefined,
): Promise<Checked<{ readonly roleName: string; readonly roleId: string | undefined }>> {
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
export async function gatherRefusals(
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
export async function gatherToken(
  { credentials }: Stack,
  { id, authentication }: ClusterRegistration,
): Promise<Checked<TokenFact>> {
  if (authentication.kind !== 'bound-token') return unchecked('there is none');
  const token = await credentials.readToken(id, 'act');
  if (token === undefined) return checked({ kind: 'missing' });
  const { clusterUid, issuedAtMs, expiresAtMs } = token;
  return checked({ kind: 'found', clusterUid, issuedAtMs, expiresAtMs });
}

/** Whether somebody observes the DaemonSets of a cluster that is not taken over, and who opted in: read from the view. */
export async function gatherObserved(
  { view, clock }: Stack,
  { mode, clusterUid }: ClusterRegistration,
): Promise<Checked<ObservedFact>> {
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
