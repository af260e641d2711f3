/**
 * Gathers all facts about one cluster, side by side.
 *
 * Whatever fails or takes too long is missing with its reason, and the rest is there.
 */
import { RELEASE } from '../../../functions/release.ts';
import { SocketEndpointProbe } from '../../adapters/kubernetes/transport/endpoint-probe.ts';
import type { EgressPolicy } from '../../adapters/kubernetes/egress/egress.ts';
import { ItemUnreadableError } from '../../adapters/dynamodb/item-codec.ts';
import type { DoctorFacts, RegistrationFact } from '../../app/doctor/facts.ts';
import { checked, unchecked } from '../../app/doctor/finding.ts';
import type { Checked } from '../../app/doctor/finding.ts';
import { isConnectedTo } from '../../app/doctor/judge-registration.ts';
import type { ClusterId } from '../../core/model/identifiers.ts';
import type { ClusterRegistration } from '../../core/model/registration.ts';
import { NOT_LOCAL } from '../reach/stack.ts';
import { eksNamesakes } from '../../app/clusters/eks-namesakes.ts';
import type { RegistryContent } from '../../app/clusters/read-registry.ts';
import type { Stack } from '../reach/stack.ts';
import { CLUSTER_FACTS } from './gather-cluster.ts';
import {
  gatherDeadLetterQueues,
  gatherEventsQueue,
  gatherObserved,
  gatherRefusals,
  gatherSender,
  gatherToken,
} from './gather-stack.ts';
import { gatherAccessEntries } from './gather-entries.ts';
import { gatherFleets } from './stack-fleets.ts';
import type { AskFleets } from './stack-fleets.ts';
import { openRegisteredWay } from './ways-in.ts';
import type { WayIn, WaysIn } from './ways-in.ts';
import { readShippedManifests } from './shipped-manifests.ts';
import type { Clock } from '@rollcall/base/ports/clock.ts';
import { findMissedRuns, readStanding } from '../../app/explain/standing.ts';
import { readFreezeIn } from '../command-line/freeze-words.ts';
import { CommandError } from '../process/exit-codes.ts';

interface GatherOptions {
  readonly stack: Stack;
  readonly id: ClusterId;
  readonly egress: EgressPolicy;
  /** Opens the user's own way in, or says why there is none. */
  readonly openKubeconfig: (registration: ClusterRegistration) => Promise<WayIn>;
  /** AWS profile of the account where the cluster is. */
  readonly clusterProfile?: string;
  /** Of the stack, for all clusters that are examined. */
  readonly askFleets: AskFleets;
  /** Of the stack, likewise. */
  readonly askRegistry: () => Promise<RegistryContent>;
}

/** Gathers. Never rejects for what a cluster, a queue or a table can do. */
export async function gatherFacts(options: GatherOptions): Promise<DoctorFacts> {
  const { stack, id } = options;
  const { clock } = stack;
  const registration = await readRegistration(stack, id);
  const [freeze, standing, eventsQueue, deadLetterQueues, rest] = await Promise.all([
    attempt(clock, 'the freeze', async () => checked(await readFreezeIn(stack))),
    attempt(clock, 'how the functions stand', async () => checked(await readStanding(stack))),
    attempt(clock, 'the events queue', () => gatherEventsQueue(stack)),
    attempt(clock, 'the dead-letter queues', () => gatherDeadLetterQueues(stack)),
    registration.kind === 'found'
      ? gatherOfCluster(registration.registration, options)
      : Promise.resolve(nothingOfCluster()),
  ]);
  const { Release: release, FleetScheduleName: schedule } = stack.outputs;
  const place = schedule === NOT_LOCAL ? ({ place: 'in-process' } as const) : {};
  return {
    ...rest,
    nowMs: clock.nowMs(),
    registration,
    freeze,
    standing,
    deployment: checked({ release, ownRelease: RELEASE, ...place }),
    eventsQueue,
    deadLetterQueues,
  };
}

async function readRegistration({ registry }: Stack, id: ClusterId): Promise<RegistrationFact> {
  try {
    const registration = await registry.readCluster(id);
    return registration === undefined ? { kind: 'missing' } : { kind: 'found', registration };
  } catch (error) {
    if (!(error instanceof ItemUnreadableError)) throw error;
    return { kind: 'unreadable', message: error.message };
  }
}

type OfCluster = Omit<
  DoctorFacts,
  | 'nowMs'
  | 'registration'
  | 'freeze'
  | 'standing'
  | 'deployment'
  | 'eventsQueue'
  | 'deadLetterQueues'
>;

async function gatherOfCluster(
  registration: ClusterRegistration,
  options: GatherOptions,
): Promise<OfCluster> {
  const { stack, egress, clusterProfile } = options;
  const { clock, view } = stack;
  const kubeconfig = await options.openKubeconfig(registration);
  const probe = new SocketEndpointProbe({ clock, egress });
  const registered = isConnectedTo(registration)
    ? openRegisteredWay(registration, { clock, egress })
    : { why: 'no credential is registered' };
  const ask = <T>(what: string, step: () => Promise<Checked<T>>): Promise<Checked<T>> =>
    attempt(clock, what, step);
  try {
    const fleets = ask('the FleetDaemonSets', () =>
      gatherFleets(registration, options.askFleets, clock.nowMs()),
    );
    const ways = { registration: registered, kubeconfig };
    const ofCluster = gatherInside(registration, { options, ways, fleets });
    const endpoint = isConnectedTo(registration)
      ? ask('the endpoint', async () => checked(await probe.probe(registration)))
      : Promise.resolve(unchecked('nothing connects to it'));
    const [
      token,
      sender,
      accessEntries,
      refusals,
      namesakes,
      meta,
      missed,
      observed,
      found,
      inside,
    ] = await Promise.all([
      ask('the sealed token', () => gatherToken(stack, registration)),
      ask('the watcher’s role', () => gatherSender(stack, registration, clusterProfile)),
      ask('the access entries', () => gatherAccessEntries(stack, registration, clusterProfile)),
      ask('refused messages', () => gatherRefusals(stack, registration)),
      ask('names in EKS', async () => checked(await namesakesOf(registration, options))),
      ask('the view', async () => checked(await view.readMeta(registration.clusterUid))),
      ask('runs', async () => checked(await findMissedRuns(registration, stack, clock.nowMs()))),
      ask('the DaemonSets', () => gatherObserved(stack, registration)),
      endpoint,
      ofCluster,
    ]);
    const ofStack = {
      ...{ token, sender, accessEntries, refusals, namesakes },
      ...{ meta, missed, observed },
    };
    return { ...inside, ...ofStack, endpoint: found, fleets: await fleets };
  } finally {
    for (const way of [registered, kubeconfig]) if ('inspection' in way) way.inspection.close();
  }
}

/** Only EKS names a cluster: of others nobody is asked. */
async function namesakesOf(
  registration: ClusterRegistration,
  { askRegistry }: GatherOptions,
): Promise<readonly ClusterId[]> {
  if (registration.authentication.kind !== 'eks') return [];
  return eksNamesakes(registration, (await askRegistry()).registrations);
}

interface InsideOptions {
  readonly options: GatherOptions;
  readonly ways: WaysIn;
  readonly fleets: Promise<OfCluster['fleets']>;
}

type Inside = Pick<OfCluster, keyof typeof CLUSTER_FACTS>;

async function gatherInside(
  registration: ClusterRegistration,
  { options: { stack }, ways, fleets }: InsideOptions,
): Promise<Inside> {
  const manifests = await readShippedManifests();
  const namespaces = await namespacesOf(stack, registration);
  const question = { registration, ways, manifests, namespaces, fleets };
  const facts = Object.entries(CLUSTER_FACTS).map(async ([name, [what, gather]]) => {
    const fact = await attempt<unknown>(stack.clock, what, () => gather(question));
    return [name, fact] as const;
  });
  // One fact, one way of having it: the table says which belong together, entries cannot.
  return Object.fromEntries(await Promise.all(facts)) as Inside;
}

/** Where there are DaemonSets; none when the view cannot be read, which another fact says. */
async function namespacesOf(
  { view }: Stack,
  { clusterUid }: ClusterRegistration,
): Promise<readonly string[]> {
  try {
    const { names } = await view.listNames(clusterUid, { limit: 200 });
    return [...new Set(names.map(({ namespace }) => namespace))];
  } catch {
    // Another fact says that the view cannot be read; this one only narrows down.
    return [];
  }
}

function nothingOfCluster(): OfCluster {
  const none = unchecked('there is no registration to compare with');
  return {
    endpoint: none,
    identity: none,
    token: none,
    credential: none,
    functionsRights: none,
    requestsRights: none,
    watcherRights: none,
    admission: none,
    listed: none,
    lease: none,
    watcher: none,
    sender: none,
    refusals: none,
    meta: none,
    missed: none,
    sentinel: none,
    observed: none,
    accessEntries: none,
    namesakes: none,
    fleets: none,
    fleetRights: none,
  };
}

const STEP_TIMEOUT_MS = 20_000;

/** Tries one step. Never rejects. `what` begins the reason, e.g. `the events queue`. */
function attempt<T>(
  clock: Clock,
  what: string,
  step: () => Promise<Checked<T>>,
): Promise<Checked<T>> {
  return new Promise((resolve) => {
    const cancel = clock.after(STEP_TIMEOUT_MS, () => {
      resolve(unchecked(`${what}: no answer within ${STEP_TIMEOUT_MS / 1000} s`));
    });
    step().then(
      (fact) => {
        cancel();
        resolve(fact);
      },
      (error: unknown) => {
        cancel();
        resolve(unchecked(`${what}: ${reasonOf(error)}`));
      },
    );
  });
}

/** Names and codes only: a message may quote what it was about (S11). */
function reasonOf(error: unknown): string {
  if (error instanceof CommandError) return error.message;
  if (!(error instanceof Error)) return 'unknown failure';
  const { code } = error as { readonly code?: unknown };
  return typeof code === 'string' && code !== '' ? `${error.name} (${code})` : error.name;
}
