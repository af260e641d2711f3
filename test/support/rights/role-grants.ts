/**
 * The grants of every role, one by one: an action on a resource, as a statement of infra/roles.yml gives it.
 *
 * Read from serverless.yml, so that a grant that is added cannot be forgotten by a test.
 */
import { arnsOf } from '@rollcall/local-aws/deployment/arns.ts';
import { resolveStatements, type PolicyStatement } from '@rollcall/local-aws/iam/policy.ts';
import { localAccountId } from '@rollcall/local-aws/sqs/server/broker.ts';
import { readService } from '@rollcall/local-aws/template/service.ts';
import { SERVERLESS_FILE, STAGE } from '../../../src/engine/engine-stores.ts';

/** One action on one resource. */
export interface Grant {
  readonly functionName: string;
  readonly sid: string;
  readonly action: string;
  readonly resourceArn: string;
  readonly leadingKeys: readonly string[] | undefined;
}

/** What a function may do. */
export interface FunctionRole {
  readonly functionName: string;
  readonly roleId: string;
  readonly statements: readonly PolicyStatement[];
  readonly grants: readonly Grant[];
  /** Logical ids of the queues it is mapped to. */
  readonly polls: readonly string[];
}

/** The role of each function, as serverless.yml names it. */
export function readRoles(): readonly FunctionRole[] {
  const service = readService(SERVERLESS_FILE, STAGE);
  const queues = new Map(
    service.queues.map(({ id, name }) => [
      id,
      { id, name, url: '', arn: `arn:aws:sqs:${service.region}:${localAccountId}:${name}` },
    ]),
  );
  const arnOf = arnsOf(service, queues);
  return service.functions.map(({ name, roleId, queueMappings }) => {
    const role = service.roles.find(({ id }) => id === roleId);
    if (role === undefined) throw new Error(`no role ${roleId}`);
    const statements = resolveStatements(role, arnOf);
    return {
      functionName: name,
      roleId,
      statements,
      grants: statements.flatMap((statement) => grantsOf(name, statement)),
      polls: queueMappings.map(({ queueId }) => queueId),
    };
  });
}

function grantsOf(functionName: string, statement: PolicyStatement): readonly Grant[] {
  const { sid = '', actions, resourceArns, leadingKeys } = statement;
  return actions.flatMap((action) =>
    resourceArns.map((resourceArn) => ({ functionName, sid, action, resourceArn, leadingKeys })),
  );
}

/** The statements without one grant; what else they give stays. */
export function withoutGrant(
  statements: readonly PolicyStatement[],
  { sid, action, resourceArn }: Grant,
): readonly PolicyStatement[] {
  return statements.flatMap((statement) => {
    if (statement.sid !== sid) return [statement];
    const { actions, resourceArns } = statement;
    return [
      { ...statement, actions: actions.filter((one) => one !== action) },
      {
        ...statement,
        actions: actions.filter((one) => one === action),
        resourceArns: resourceArns.filter((one) => one !== resourceArn),
      },
    ];
  });
}
