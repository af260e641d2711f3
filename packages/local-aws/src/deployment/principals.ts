// Who there is in the local AWS: the person who deploys, each function, each sender from outside.
//
// A function has the rights of the role that the service file names for it; its mapping polls with them too. A sender
// from outside has those of a role in a template of its own. Queues and tables are created as the deploying user, with a key
// that no function is given. Access keys are names; the secret of each is random, and of this process (authorizer.ts).
import type { ServiceDeclaration } from '../template/service.ts';
import { readYamlFile } from '../template/yaml-file.ts';
import * as v from 'valibot';
import type { Authorizer, LocalCredentials } from '../iam/authorizer.ts';
import { readRole, resolveStatements, type RoleDeclaration } from '../iam/policy.ts';

/** The senders of messages: who they are, and what they may do. */
export interface LocalSenders {
  /** SenderId by access key. */
  readonly ids: ReadonlyMap<string, string>;
  /** Of all of them, where senders outlive this process; else each has one of its own. */
  readonly secretAccessKey?: string | undefined;
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

/** The access key under which a function runs and its mappings poll. */
export function functionAccessKey(functionName: string): string {
  return `ROLLCALLFUNCTION${functionName.replaceAll(/[^A-Za-z0-9]/g, '').toUpperCase()}`;
}

/**
 * Grants the deploying user everything: that user creates resources and registers clusters. Resources are created with this key, before
 * any other principal has one.
 */
export function grantOperator(authorizer: Authorizer, accountId: string): LocalCredentials {
  const arn = `arn:aws:iam::${accountId}:user/operator`;
  return authorizer.grant('ROLLCALLOPERATOR', { arn, rights: 'administrator' });
}

/** Grants every function its role. Throws when a role is missing or says what is not understood. */
export function grantFunctions(authorizer: Authorizer, account: LocalAccount): void {
  const { service } = account;
  for (const { name, roleId } of service.functions) {
    const role = service.roles.find(({ id }) => id === roleId);
    if (role === undefined)
      throw new Error(`${name} names the role ${roleId}, which no template declares`);
    authorizer.grant(functionAccessKey(name), {
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
    const arn = assumedRoleArn(account, role.id, session);
    authorizer.grant(accessKey, { arn, rights, secretAccessKey: senders.secretAccessKey });
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
