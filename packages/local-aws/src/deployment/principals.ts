// Who there is in the local AWS: the person who deploys, each function, each sender from outside.
//
// A function has the rights of the role that the service file names for it; its mapping polls with them too. A sender
// from outside has those of a role in a template of its own. Queues and tables are created as whoever deploys, with a key
// that no function is given.
import type { ServiceDeclaration } from '../template/service.ts';
import { readYamlFile } from '../template/yaml-file.ts';
import * as v from 'valibot';
import type { Authorizer } from '../iam/authorizer.ts';
import { readRole, resolveStatements, type RoleDeclaration } from '../iam/policy.ts';

/** A key pair; the secret is a dummy, as nothing checks signatures. */
export interface LocalCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** The senders of messages: who they are, and what they may do. */
export interface LocalSenders {
  /** SenderId by access key. */
  readonly ids: ReadonlyMap<string, string>;
  /** The template of their role, and its logical id there. */
  readonly roleFile: string;
  readonly roleId: string;
  /** The template's parameter for the ARN of the queue that they send to, and the queue's logical id. */
  readonly queueParameter: string;
  readonly queueId: string;
}

/** The account of the local AWS. */
export interface LocalAccount {
  readonly service: ServiceDeclaration;
  readonly accountId: string;
  /** ARN of a declared resource, by logical id. */
  readonly arnOf: (id: string) => string | undefined;
}

const secretAccessKey = 'local';

/** The key of whoever deploys: creates resources, registers clusters, and may do everything. */
export const operatorCredentials: LocalCredentials = {
  accessKeyId: 'ROLLCALLOPERATOR',
  secretAccessKey,
};

/** The key under which a function runs and its mappings poll. */
export function functionCredentials(functionName: string): LocalCredentials {
  const suffix = functionName.replaceAll(/[^A-Za-z0-9]/g, '').toUpperCase();
  return { accessKeyId: `ROLLCALLFUNCTION${suffix}`, secretAccessKey };
}

/** Grants whoever deploys everything. Resources are created with this key, before anybody else has one. */
export function grantOperator(authorizer: Authorizer, accountId: string): void {
  const arn = `arn:aws:iam::${accountId}:user/operator`;
  authorizer.grant(operatorCredentials.accessKeyId, { arn, rights: 'administrator' });
}

/** Grants every function its role. Throws when a role is missing or says what is not understood. */
export function grantFunctions(authorizer: Authorizer, account: LocalAccount): void {
  const { service } = account;
  for (const { name, roleId } of service.functions) {
    const role = service.roles.find(({ id }) => id === roleId);
    if (role === undefined)
      throw new Error(`${name} names the role ${roleId}, which nobody declares`);
    authorizer.grant(functionCredentials(name).accessKeyId, {
      arn: assumedRoleArn(account, roleId, `${service.service}-${service.stage}-${name}`),
      rights: resolveStatements(role, account.arnOf),
    });
  }
}

/** Grants every sender the role of the template. */
export function grantSenders(
  authorizer: Authorizer,
  senders: LocalSenders,
  account: LocalAccount,
): void {
  const role = readSenderRole(senders);
  const rights = resolveStatements(role, (reference) =>
    reference === senders.queueParameter ? account.arnOf(senders.queueId) : undefined,
  );
  for (const [accessKey, senderId] of senders.ids) {
    const session = senderId.split(':')[1] ?? accessKey;
    authorizer.grant(accessKey, { arn: assumedRoleArn(account, role.id, session), rights });
  }
}

function readSenderRole({ roleFile, roleId }: LocalSenders): RoleDeclaration {
  const template = v.parse(
    v.looseObject({ Resources: v.record(v.string(), v.unknown()) }),
    readYamlFile(roleFile),
  );
  const role = template.Resources[roleId];
  if (role === undefined) throw new Error(`${roleFile} declares no ${roleId}`);
  return readRole(roleId, role);
}

function assumedRoleArn({ accountId }: LocalAccount, roleId: string, session: string): string {
  return `arn:aws:sts::${accountId}:assumed-role/${roleId}/${session}`;
}
