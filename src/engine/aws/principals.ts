// Who there is in the local AWS: the person who deploys, each function, each watcher.
//
// A function has the rights of the role that serverless.yml names for it; its mapping polls with them too. A watcher
// has those of WatcherRole in infra/cluster/roles.yml. The engine itself creates queues and tables and writes registrations as
// whoever deploys, with a key of its own that no function is given.
import type { ServiceDeclaration } from '../template/service.ts';
import { readYamlFile } from '../template/yaml-file.ts';
import * as v from 'valibot';
import type { Authorizer } from '@rollcall/local-aws/iam/authorizer.ts';
import {
  readRole,
  resolveStatements,
  type RoleDeclaration,
} from '@rollcall/local-aws/iam/policy.ts';

/** A key pair; the secret is a dummy, as nothing checks signatures. */
export interface LocalCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** The senders of messages: who they are, and what they may do. */
export interface LocalSenders {
  /** SenderId by access key. */
  readonly ids: ReadonlyMap<string, string>;
  /** A template with a WatcherRole. */
  readonly roleFile: string;
  /** Logical id of the queue that its parameter `EventsQueueArn` stands for. */
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
const SENDER_ROLE_ID = 'WatcherRole';

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
  const role = readSenderRole(senders.roleFile);
  const rights = resolveStatements(role, (reference) =>
    reference === 'EventsQueueArn' ? account.arnOf(senders.queueId) : undefined,
  );
  for (const [accessKey, senderId] of senders.ids) {
    const session = senderId.split(':')[1] ?? accessKey;
    authorizer.grant(accessKey, { arn: assumedRoleArn(account, role.id, session), rights });
  }
}

function readSenderRole(file: string): RoleDeclaration {
  const template = v.parse(
    v.looseObject({ Resources: v.record(v.string(), v.unknown()) }),
    readYamlFile(file),
  );
  const role = template.Resources[SENDER_ROLE_ID];
  if (role === undefined) throw new Error(`${file} declares no ${SENDER_ROLE_ID}`);
  return readRole(SENDER_ROLE_ID, role);
}

function assumedRoleArn({ accountId }: LocalAccount, roleId: string, session: string): string {
  return `arn:aws:sts::${accountId}:assumed-role/${roleId}/${session}`;
}
