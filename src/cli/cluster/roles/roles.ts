/**
 * The AWS roles of one cluster: names, and the parameters of infra/cluster/roles.yml.
 *
 * One stack for each cluster, in the account where the cluster is, under the path that the service's
 * queue policies name (SenderRolePath). A name lends no identity: that is the role's unique id, which AWS
 * makes (S6). A shared role would be a shared identity: what is cut in a name is replaced by a hash of it.
 */
import { createHash } from 'node:crypto';
import { parseDocument } from 'yaml';
import { defined } from '@rollcall/base/defined.ts';
import type { StackOutputs } from '../../reach/stack.ts';
import type { ClusterId, ClusterUid } from '../../../core/model/identifiers.ts';

/** How a service account of the cluster becomes a role. */
export type RoleTrust =
  | {
      readonly kind: 'pod-identity';
      readonly clusterArn: string;
      readonly clusterName: string;
    }
  | {
      readonly kind: 'web-identity';
      /** https address of the issuer of the cluster's service account tokens. */
      readonly issuer: string;
      readonly audience: string;
      /** `missing`: the account does not know the issuer yet, and the stack makes it known. */
      readonly provider: 'missing' | 'present';
    };

export interface ClusterRolesRequest {
  readonly stage: string;
  readonly id: ClusterId;
  readonly clusterUid: ClusterUid;
  readonly outputs: Pick<
    StackOutputs,
    'SenderRolePath' | 'EventsQueueArn' | 'CredentialsQueueArn' | 'CredentialsKeyArn'
  >;
  readonly trust: RoleTrust;
  /** ARN of the policy that bounds both roles, where the organisation demands one. */
  readonly permissionsBoundaryArn?: string;
  /** With authentication by a bound token. */
  readonly hasRenewer: boolean;
}

/** Parameters of infra/cluster/roles.yml by name. */
export type RolesParameters = Readonly<Record<string, string>>;

/** Of IAM. */
const ROLE_NAME_CHARACTERS_MAX = 64;
/** Of CloudFormation. */
const STACK_NAME_CHARACTERS_MAX = 128;
const HASH_CHARACTERS = 8;

/** The issuer as IAM names it: without scheme, without a slash at its end. */
export function issuerName(issuer: string): string {
  return issuer.replace(/^https:\/\//, '').replace(/\/+$/, '');
}

/**
 * Name of a role, at most 64 characters. IAM takes names that differ in case for the same, so an id with
 * upper-case letters is told apart by the hash as well.
 */
export function roleName(options: {
  readonly stage: string;
  readonly id: string;
  readonly part: 'watcher' | 'renewer';
}): string {
  const whole = `rollcall-${options.stage}-${options.id}`;
  const parts = { whole, head: whole, tail: `-${options.part}` };
  return cutName({ ...parts, isPlain: whole === whole.toLowerCase() }, ROLE_NAME_CHARACTERS_MAX);
}

/** Name of the CloudFormation stack with the roles of a cluster: letters, digits and dashes. */
export function rolesStackName(options: { readonly stage: string; readonly id: string }): string {
  const whole = `rollcall-${options.stage}-cluster-${options.id}`;
  const head = whole.replaceAll(/[^A-Za-z0-9-]/g, '-');
  return cutName({ head, tail: '', isPlain: head === whole, whole }, STACK_NAME_CHARACTERS_MAX);
}

interface NameParts {
  readonly whole: string;
  readonly head: string;
  readonly tail: string;
  /** False if something of the id cannot stand in the name. */
  readonly isPlain: boolean;
}

function cutName({ whole, head, tail, isPlain }: NameParts, charactersMax: number): string {
  if (isPlain && head.length + tail.length <= charactersMax) return `${head}${tail}`;
  const hash = createHash('sha256').update(whole).digest('hex');
  const suffix = `-${hash.slice(0, HASH_CHARACTERS)}${tail}`;
  const kept = head.slice(0, charactersMax - suffix.length).replace(/[-._]+$/, '');
  return `${kept}${suffix}`;
}

/** The parameters of infra/cluster/roles.yml for one cluster. */
export function rolesParameters(request: ClusterRolesRequest): RolesParameters {
  const { stage, id, trust, outputs } = request;
  return {
    ClusterId: id,
    ClusterUid: request.clusterUid,
    SenderRolePath: outputs.SenderRolePath,
    WatcherRoleName: roleName({ stage, id, part: 'watcher' }),
    EventsQueueArn: outputs.EventsQueueArn,
    ...defined({ PermissionsBoundaryArn: request.permissionsBoundaryArn }),
    ...(request.hasRenewer
      ? {
          RenewerRoleName: roleName({ stage, id, part: 'renewer' }),
          CredentialsQueueArn: outputs.CredentialsQueueArn,
          CredentialsKeyArn: outputs.CredentialsKeyArn,
        }
      : {}),
    Trust: trust.kind,
    ...(trust.kind === 'pod-identity'
      ? { EksClusterArn: trust.clusterArn, EksClusterName: trust.clusterName }
      : {
          OidcIssuer: issuerName(trust.issuer),
          OidcAudience: trust.audience,
          CreateOidcProvider: trust.provider === 'missing' ? 'yes' : 'no',
        }),
  };
}

/** The template as text, with the parameters as defaults: deployed as it is, nothing is asked. */
export function fillTemplate(source: string, parameters: RolesParameters): string {
  const document = parseDocument(source);
  for (const [name, value] of Object.entries(parameters)) {
    if (!document.hasIn(['Parameters', name])) throw new Error(`roles.yml has no ${name}`);
    document.setIn(['Parameters', name, 'Default'], value);
  }
  return document.toString({ lineWidth: 0 });
}
