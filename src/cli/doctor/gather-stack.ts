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
import { findLetters } from '../../app/redrive/find-letters.ts';
import { isSenderPartition } from '../../core/hints/dead-letter-place.ts';
import type { ClusterRegistration } from '../../core/model/registration.ts';
import { copilotStanding } from '../../core/takeover/opt-in.ts';
import type { CopilotStanding } from '../../core/takeover/opt-in.ts';
import { hasSentinelName } from '../../core/takeover/takeover-sentinel.ts';
import type { KeptDeadLetter } from '../../ports/stores/dead-letter-store.ts';
import { defined } from '@rollcall/base/defined.ts';
import { roleName } from '../cluster/roles/roles.ts';
import type { Stack, StackOutputName } from '../reach/stack.ts';

const DAY_MS = 86_400_000;
const LETTERS_MAX = 500;
const SENDERS_MAX = 50;
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
  { deadLetters, clock }: Stack,
  { id }: ClusterRegistration,
): Promise<Checked<readonly RefusalFact[]>> {
  const recent = { sinceMs: clock.nowMs() - DAY_MS };
  const bound = { readMax: LETTERS_MAX };
  const own = await findLetters(deadLetters, { of: { cluster: id }, ...recent }, bound);
  const senders = (await deadLetters.listPartitions()).filter(isSenderPartition);
  const claims = await Promise.all(
    senders.slice(0, SENDERS_MAX).map(async (partition) => {
      const page = await deadLetters.list(partition, { ...recent, limit: LETTERS_MAX });
      return page.letters.filter(({ claimedCluster }) => claimedCluster === id);
    }),
  );
  const letters = [...own.letters, ...claims.flat()];
  const refusals = letters.map(refusalOf).filter((one) => one !== undefined);
  return checked(refusals.toSorted((left, right) => left.atMs - right.atMs));
}

/** Undefined for a letter that was lost, and not refused. */
function refusalOf({ queue, code, atMs, detail, place }: KeptDeadLetter): RefusalFact | undefined {
  if (queue !== 'ingest' && queue !== 'credentials') return undefined;
  if (code === 'lost-credential') return undefined;
  const { partition } = place;
  const sender = isSenderPartition(partition) ? partition.split('/', 2)[1] : undefined;
  return {
    queue,
    code,
    atMs,
    detail,
    ...(sender === undefined || sender === '' ? {} : { senderRoleId: sender }),
  };
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
