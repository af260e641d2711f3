/**
 * Adds one cluster: the steps in their order, each of which can be repeated.
 *
 *   1 examine ─▶ 2 roles ─▶ 3 registration ─▶ 4 way in, manifests ─▶ what to do next
 *
 * Everything that can be refused is refused before something is made. After an interruption the same
 * command goes on: nothing is made twice, and a dry run makes nothing.
 */
import { defined } from '@rollcall/base/defined.ts';
import type { JsonObject } from '@rollcall/base/json.ts';
import { eksNamesakes, namesakeWarning } from '../../../app/clusters/eks-namesakes.ts';
import type { ClusterRegistration } from '../../../core/model/registration.ts';
import {
  describeHolder,
  readWatcherLease,
  watchForVacancy,
} from '../../../engine/lease/lease-vacancy.ts';
import { knownError } from '../../command-line/explain-error.ts';
import { throwIfInterrupted } from '../../command-line/run-program.ts';
import { failure, refusal, refusalsOf, throwTogether } from '../../process/exit-codes.ts';
import type { CommandError } from '../../process/exit-codes.ts';
import { examineCluster, type AddContext, type AddTask } from './add-examine.ts';
import {
  composeRegistration,
  registerCluster,
  requireAddable,
  requireOwnRoles,
  requireReachable,
  requireSame,
  standingOf,
} from './add-registration.ts';
import type { Standing } from './add-registration.ts';
import type { AddRequest } from './add-request.ts';
import { obtainRoles, requireIssuer, type SenderRoles } from './add-roles.ts';
import { applyManifests, type AppliedObject } from '../manifests/apply-manifests.ts';
import {
  commandsForEntries,
  ensureAccessEntries,
  principalsOf,
  unverifiedWarning,
} from './access-entries.ts';
import type { AccessEntryResult } from './access-entries.ts';
import { reachWarning } from './eks-cluster.ts';
import { composeManifests } from '../manifests/manifests.ts';

export interface AddedCluster {
  readonly id: string;
  readonly registration: ClusterRegistration;
  readonly result: 'written' | 'present' | 'planned';
  readonly version: string;
  readonly credentials: AddRequest['credentials'];
  readonly hasImage: boolean;
  readonly roles: SenderRoles;
  readonly accessEntries: readonly AccessEntryResult[];
  /** Commands that make the access entries, when this one may not. */
  readonly accessEntryCommands: readonly string[];
  /** Things that were made, and may not work all the same. */
  readonly warnings: readonly string[];
  readonly manifests: readonly JsonObject[];
  /** Empty unless they were to be applied. */
  readonly applied: readonly AppliedObject[];
}

interface Adding {
  readonly shouldApply: boolean;
  /** Known to be missing: told together with what the cluster itself shows to be, and nothing is made. */
  readonly missing?: readonly CommandError[];
}

/** Adds a cluster, with its manifests if they are to be applied. Throws CommandError; AWS's errors pass through. */
export async function addCluster(
  request: AddRequest,
  context: AddContext,
  { shouldApply, missing = [] }: Adding,
): Promise<AddedCluster> {
  const examined = await toldWith(missing, () => examineCluster(request, context));
  try {
    const { id } = request;
    const registrations = await toldWith(missing, context.registrations);
    const standing = standingOf({ id, clusterUid: examined.facts.clusterUid }, registrations);
    throwTogether([
      ...missing,
      ...refusalsOf([
        () => {
          requireAddable(id, standing);
        },
        () => {
          requireIssuer({ request, examined });
        },
        () => {
          const registration = composeRegistration({ request, examined, roles: { watcher: {} } });
          requireReachable(registration, context.stack.stage);
        },
      ]),
    ]);
    return await addExamined(
      { request, examined, context },
      { registrations, standing, isApplied: shouldApply && !context.isDryRun },
    );
  } finally {
    examined.connection?.transport.retire();
  }
}

/** A step that fails hides nothing of what is known to be missing. */
export async function toldWith<T>(
  missing: readonly CommandError[],
  step: () => Promise<T>,
): Promise<T> {
  try {
    return await step();
  } catch (error) {
    const known = knownError(error);
    if (known !== undefined) throwTogether([...missing, known]);
    throw error;
  }
}

interface AddableCluster {
  readonly registrations: ReadonlyMap<string, ClusterRegistration>;
  readonly standing: Standing;
  readonly isApplied: boolean;
}

async function addExamined(
  task: AddTask,
  { registrations, standing, isApplied }: AddableCluster,
): Promise<AddedCluster> {
  const { request, examined, context } = task;
  const { id } = request;
  const { facts } = examined;
  const { say } = context;
  say(`1/4 ${id}: ${facts.server}, ${facts.version}, cluster UID ${facts.clusterUid}`);
  const warnings: string[] = [];
  const warn = (warning: string | undefined): void => {
    if (warning === undefined) return;
    say(`${id}: mind: ${warning}`);
    warnings.push(warning);
  };
  if (request.auth === 'eks' && examined.eks !== undefined) warn(reachWarning(examined.eks));
  if (isApplied) await requireFreeLease(task);
  const roles = await obtainRoles(task);
  const { roleId, roleArn } = roles.watcher;
  say(`2/4 ${id}: the watcher is ${roleId ?? `to be made: ${roleArn ?? ''}`}`);
  const registration = composeRegistration({ request, examined, roles });
  requireOwnRoles(registration, registrations, context.stack.stage);
  warn(namesakeWarning(registration, eksNamesakes(registration, registrations.values())));
  // Composed before anything is registered: what is wrong with them is told while nothing is written.
  const manifests = manifestsOf(task, roles);
  if (standing.kind === 'registered') requireSame(standing.registration, registration);
  throwIfInterrupted(context.signal);
  const result = await register(task, registration, standing.kind === 'registered');
  say(`3/4 ${id}: ${REGISTERED[result](registration)}`);
  const entries = await letFunctionsIn(task);
  warn(unverifiedWarning(entries.accessEntries));
  throwIfInterrupted(context.signal);
  const applied = isApplied ? await apply(task, manifests) : [];
  return {
    id,
    registration,
    result,
    version: facts.version,
    credentials: request.credentials,
    hasImage: request.image !== undefined,
    roles,
    ...entries,
    warnings,
    manifests,
    applied,
  };
}

/** Its watcher would replace the other one's Deployment, and disarm it (ADR 0024). */
async function requireFreeLease({ request, examined, context }: AddTask): Promise<void> {
  const { connection } = examined;
  if (connection === undefined) return;
  const { installation } = context.stack;
  const vacancy = await watchForVacancy({
    readLease: () => readWatcherLease(connection.transport),
    clock: context.clock,
    ...defined({ installation }),
    onWatching: (limitMs) => {
      const seconds = String(Math.ceil(limitMs / 1000));
      context.say(`1/4 ${request.id}: is another installation at work there? Up to ${seconds} s …`);
    },
  });
  if (vacancy.kind !== 'held') return;
  throw refusal(
    `${request.id} is looked after by ${describeHolder(vacancy)}`,
    'Remove it from the other stack, or stop that process; then add it here. Moving a cluster: docs/operations.md.',
  );
}

const REGISTERED = {
  written: ({ mode }: ClusterRegistration) => `registered, mode ${mode}`,
  present: () => 'is registered so already',
  planned: ({ mode }: ClusterRegistration) => `would be registered, mode ${mode}`,
} as const;

async function register(
  { context }: AddTask,
  registration: ClusterRegistration,
  isRegistered: boolean,
): Promise<AddedCluster['result']> {
  if (context.isDryRun) return isRegistered ? 'present' : 'planned';
  return registerCluster(context.stack.registry, registration);
}

function manifestsOf({ request, examined, context }: AddTask, roles: SenderRoles) {
  const { outputs } = context.stack;
  const { id, auth, image, credentials, watcherApiServer, mode } = request;
  // In takeover the watcher must work before the daemons that make service addresses work.
  const apiServer = watcherApiServer ?? (auth === 'eks' ? examined.eks?.server : undefined);
  const [watcherRoleArn, renewerRoleArn] = [roles.watcher.roleArn, roles.renewer?.roleArn];
  return composeManifests({
    id,
    outputs,
    credentials,
    authentication: auth,
    ...(mode === 'copilot' ? { mode } : {}),
    ...defined({ image, watcherRoleArn, renewerRoleArn, apiServer }),
  });
}

type LetIn = Pick<AddedCluster, 'accessEntries' | 'accessEntryCommands'>;

async function letFunctionsIn({ request, examined, context }: AddTask): Promise<LetIn> {
  const { eks } = examined;
  if (request.auth !== 'eks' || eks === undefined) {
    return { accessEntries: [], accessEntryCommands: [] };
  }
  const principals = principalsOf(context.stack.outputs);
  const mayMake = request.clusterProfile !== undefined || request.sameAccount;
  if (!mayMake || context.isDryRun) {
    const planned = principals.map(({ arn: principalArn }) => {
      return { principalArn, result: 'planned' as const };
    });
    const accessEntryCommands = commandsForEntries(eks, principals);
    return { accessEntries: mayMake ? planned : [], accessEntryCommands };
  }
  // The roles are the stack's, also where another account owns the cluster.
  const clients = { eks: context.account(request).eks, iam: context.account({}).iam };
  const accessEntries = await ensureAccessEntries(clients, eks.name, principals);
  context.say(`4/4 ${request.id}: ${String(principals.length)} access entries stand`);
  return { accessEntries, accessEntryCommands: [] };
}

async function apply(
  { request, examined: { connection }, context }: AddTask,
  manifests: readonly JsonObject[],
): Promise<readonly AppliedObject[]> {
  if (connection === undefined) {
    throw failure(
      `${request.id} is registered; its manifests cannot be applied from here.`,
      'Repeat the command with --manifests FILE, and apply the file where the cluster is.',
    );
  }
  const applied = await applyManifests(connection.transport, manifests);
  for (const { object, result, detail } of applied) {
    const why = detail === undefined ? '' : `: ${detail}`;
    context.say(`4/4 ${request.id}: ${object} ${result}${why}`);
  }
  return applied;
}
