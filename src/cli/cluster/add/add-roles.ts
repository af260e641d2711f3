/**
 * Step 2 of `cluster add`: whose messages the cluster's will be. Roles are deployed, looked up or given.
 *
 * What counts is a role's unique id, as AWS made it (S6). Roles of another account must be under the
 * service's path, which is all that its queue policies let in.
 */
import { readFile } from 'node:fs/promises';
import { defined } from '@rollcall/base/defined.ts';
import { failure, usageError } from '../../process/exit-codes.ts';
import { isPublicIssuer } from '../../../core/issuer/issuer-documents.ts';
import { packageFile } from '../../../engine/package-files.ts';
import type { AddContext, AddTask } from './add-examine.ts';
import { hasRoles, requireRoleSource } from './add-request.ts';
import { findOidcProvider, lookUpRole, type ClusterAccount } from './eks-cluster.ts';
import { deployRoles, readRolesParameters } from '../roles/roles-deploy.ts';
import { writeTerraform } from '../roles/roles-terraform.ts';
import { fillTemplate, issuerName, rolesParameters, rolesStackName } from '../roles/roles.ts';
import type { RolesParameters, RoleTrust } from '../roles/roles.ts';

/** A role; without an id it would be made by a run that is not dry. */
export interface SenderRole {
  readonly roleId?: string;
  readonly roleArn?: string;
}

export interface SenderRoles {
  readonly watcher: SenderRole;
  readonly renewer?: SenderRole;
  /** The CloudFormation stack that has them, if there is one. */
  readonly stackName?: string;
}

const TEMPLATE = 'infra/cluster/roles.yml';
/** The one audience that AWS's own tools ask for. */
const AUDIENCE = 'sts.amazonaws.com';

/** Deploys, looks up or takes the roles. Throws CommandError. */
export async function obtainRoles(task: AddTask): Promise<SenderRoles> {
  const { request, context } = task;
  if (hasRoles(request)) return takeRoles(task);
  requireRoleSource(request);
  const account = context.account(request);
  const { stage } = context.stack;
  const stackName = rolesStackName({ stage, id: request.id });
  const parameters = {
    ...(await standingBoundary(account, stackName)),
    ...rolesParametersFor(task, await findTrust(task, stackName)),
  };
  if (context.isDryRun) return predictRoles(task, { parameters, stackName });
  const deployed = await deployRoles({
    client: account.cloudFormation,
    stackName,
    template: await readFile(packageFile(TEMPLATE), 'utf8'),
    parameters,
    clock: context.clock,
    signal: context.signal,
    say: context.say,
  });
  return { ...deployed, stackName };
}

/** The roles as a filled-in template, for another team to deploy. */
export async function printRoles(
  task: AddTask,
  format: 'cloudformation' | 'terraform',
): Promise<string> {
  const { request } = task;
  const isKnown = request.clusterProfile !== undefined || request.sameAccount;
  const stackName = rolesStackName({ stage: task.context.stack.stage, id: request.id });
  const trust = isKnown ? await findTrust(task, stackName) : trustOf(task, 'missing');
  const parameters = {
    ...(isKnown ? await standingBoundary(task.context.account(request), stackName) : {}),
    ...rolesParametersFor(task, trust),
  };
  return format === 'cloudformation'
    ? fillTemplate(await readFile(packageFile(TEMPLATE), 'utf8'), parameters)
    : writeTerraform(parameters);
}

function rolesParametersFor({ request, examined, context }: AddTask, trust: RoleTrust) {
  const { stage, outputs } = context.stack;
  const { id, auth, permissionsBoundary } = request;
  return rolesParameters({
    stage,
    id,
    clusterUid: examined.facts.clusterUid,
    outputs,
    trust,
    ...defined({ permissionsBoundaryArn: permissionsBoundary }),
    hasRenewer: auth === 'bound-token',
  });
}

/** An existing boundary stays without the option: an account that demands it would refuse the change. */
async function standingBoundary(
  { cloudFormation }: Pick<ClusterAccount, 'cloudFormation'>,
  stackName: string,
): Promise<RolesParameters> {
  const { PermissionsBoundaryArn: standing } = await readRolesParameters(cloudFormation, stackName);
  return standing === undefined || standing === '' ? {} : { PermissionsBoundaryArn: standing };
}

/** A provider that this very stack made stays its own: leaving it out would take it from the stack. */
async function findTrust(task: AddTask, stackName: string): Promise<RoleTrust> {
  const trust = trustOf(task, 'missing');
  if (trust.kind === 'pod-identity') return trust;
  const account = task.context.account(task.request);
  const earlier = await readRolesParameters(account.cloudFormation, stackName);
  const isSameIssuer = earlier['OidcIssuer'] === issuerName(trust.issuer);
  if (isSameIssuer && earlier['CreateOidcProvider'] === 'yes') return trust;
  return { ...trust, provider: await findOidcProvider(account, trust) };
}

function trustOf(task: AddTask, provider: 'missing' | 'present'): RoleTrust {
  const { request, examined } = task;
  const { eks } = examined;
  if (request.credentials === 'pod-identity' && eks !== undefined) {
    return { kind: 'pod-identity', clusterArn: eks.arn, clusterName: eks.name };
  }
  return { kind: 'web-identity', issuer: issuerOf(task), audience: AUDIENCE, provider };
}

/** Throws CommandError when roles are to be made, and AWS could not check the tokens of who takes them. */
export function requireIssuer(task: Pick<AddTask, 'request' | 'examined'>): void {
  const { request } = task;
  if (!hasRoles(request) && request.credentials !== 'pod-identity') issuerOf(task);
}

function issuerOf({ request, examined }: Pick<AddTask, 'request' | 'examined'>): string {
  const issuer = request.oidcIssuer ?? examined.facts.issuer;
  if (issuer !== undefined && isPublicIssuer(issuer)) return issuer;
  throw failure(
    issuer === undefined
      ? 'The API server does not say who issues its tokens.'
      : `AWS cannot check tokens of ${issuer}: it has to be a public https address without a port.`,
    'Publish its keys (rollcall cluster issuer), and pass where they stand as --oidc-issuer.',
  );
}

async function takeRoles({ request, context }: AddTask): Promise<SenderRoles> {
  const { senderRoleId, watcherRoleArn, renewerRoleId, renewerRoleArn } = request;
  const take = async (role: SenderRole, part: 'watcher' | 'renewer'): Promise<SenderRole> => {
    const { roleId, roleArn } = role;
    if (roleArn === undefined) return role;
    requirePath(roleArn, part, context);
    return roleId === undefined ? lookUpRole(context.account(request), roleArn) : role;
  };
  const watcher = await take(defined({ roleId: senderRoleId, roleArn: watcherRoleArn }), 'watcher');
  if (request.auth !== 'bound-token') return { watcher };
  const renewer = await take(
    defined({ roleId: renewerRoleId, roleArn: renewerRoleArn }),
    'renewer',
  );
  if (renewer.roleId === watcher.roleId && request.credentials !== 'static') {
    throw usageError(
      'Watcher and token renewer have the same role: what may watch must not be able to renew.',
      `Make a role for each: rollcall cluster add ${request.id} --print cloudformation`,
    );
  }
  return { watcher, renewer };
}

const accountOf = (arn: string): string => arn.split(':')[4] ?? '';

/** Queues let in roles of their own account wherever they are, the key never: infra/keys.yml names the path. */
function requirePath(roleArn: string, part: 'watcher' | 'renewer', { stack }: AddContext): void {
  const { EventsQueueArn: queueArn, SenderRolePath: path } = stack.outputs;
  const isNear = part === 'watcher' && accountOf(roleArn) === accountOf(queueArn);
  if (isNear || roleArn.includes(`:role${path}`)) return;
  throw failure(
    `The role of the ${part}, ${roleArn}, is not under the path ${path}.`,
    'The policies of the service name that path: make the role there (--print shows how).',
  );
}

function predictRoles(
  { request, examined }: AddTask,
  made: { readonly parameters: RolesParameters; readonly stackName: string },
): SenderRoles {
  const { SenderRolePath: path = '', WatcherRoleName, RenewerRoleName } = made.parameters;
  const account = accountOf(examined.eks?.arn ?? '') || 'ACCOUNT';
  const roleArn = (name: string): string => `arn:aws:iam::${account}:role${path}${name}`;
  return {
    watcher: { roleArn: roleArn(WatcherRoleName ?? '') },
    ...(request.auth === 'bound-token'
      ? { renewer: { roleArn: roleArn(RenewerRoleName ?? '') } }
      : {}),
    stackName: made.stackName,
  };
}
