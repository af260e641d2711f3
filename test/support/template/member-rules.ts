/** Rules that are a row: members that each resource of a type has, or has not. What is lost when, who could read it, who waits. */
import { registryNameOf } from '../../../scripts/osls/protect-registry.mjs';
import { at, ofType, textOf, type Identified, type Rule, type Value } from './template.ts';

interface Row {
  readonly name: string;
  readonly type: string;
  /** Of which resources of the type; all, where it is absent. */
  readonly isMeant?: (one: Identified) => boolean;
  /** By their path, with dots between; `undefined`: it is not there. */
  readonly members: Readonly<Record<string, Value | undefined>>;
}

/** Stands for the stage in what is wanted. */
const STAGE = '<stage>';
const QUEUE = 'AWS::SQS::Queue';
const TABLE = 'AWS::DynamoDB::Table';

const ROWS: readonly Row[] = [
  {
    name: 'every queue is encrypted',
    type: QUEUE,
    members: { SqsManagedSseEnabled: true },
  },
  {
    name: 'FIFO queues count per group: no cluster takes throughput from another (L3)',
    type: QUEUE,
    isMeant: ({ properties }) => properties['FifoQueue'] === true,
    members: {
      DeduplicationScope: 'messageGroup',
      FifoThroughputLimit: 'perMessageGroupId',
    },
  },
  {
    name: 'no function has a reservation: one of zero empties its queue (F3), any other takes from all others',
    type: 'AWS::Lambda::Function',
    members: { ReservedConcurrentExecutions: undefined },
  },
  {
    name: 'every table is encrypted and on demand',
    type: TABLE,
    members: { 'SSESpecification.SSEEnabled': true, BillingMode: 'PAY_PER_REQUEST' },
  },
  {
    name: 'no decision rests on an index',
    type: TABLE,
    members: { GlobalSecondaryIndexes: undefined, LocalSecondaryIndexes: undefined },
  },
  {
    // What happened goes by itself, and stands in the view's table (ADR 0082).
    name: 'nothing of the registry expires',
    type: TABLE,
    isMeant: ({ id }) => id !== 'ViewTable',
    members: { TimeToLiveSpecification: undefined },
  },
  {
    name: 'the registry is never lost: recovery, and it outlives the stack; protection follows (F2)',
    type: TABLE,
    isMeant: ({ id }) => id === 'RegistryTable',
    members: {
      'PointInTimeRecoverySpecification.PointInTimeRecoveryEnabled': true,
      DeletionPolicy: 'RetainExceptOnCreate',
      UpdateReplacePolicy: 'Retain',
      // The plugin protects the table of this name, once the deployment has succeeded (test/unit/scripts/osls).
      TableName: registryNameOf(`rollcall-${STAGE}`),
    },
  },
  {
    name: 'every role takes the permissions boundary, when there is one (F16)',
    type: 'AWS::IAM::Role',
    members: { 'PermissionsBoundary.Fn::If.0': 'HasPermissionsBoundary' },
  },
  {
    name: 'the key is rotated',
    type: 'AWS::KMS::Key',
    members: { EnableKeyRotation: true },
  },
];

/** All of them; one of which no resource is left finds that. */
export const memberRules: readonly Rule[] = ROWS.map(({ name, type, isMeant, members }) => ({
  name,
  check: (template, stage) => {
    const meant = ofType(template, type).filter((one) => isMeant?.(one) ?? true);
    if (meant.length === 0) return [`there is no ${type}`];
    return meant.flatMap(({ id, resource, properties }) =>
      Object.entries(members).flatMap(([member, value]) => {
        const wanted = typeof value === 'string' ? value.replace(STAGE, stage) : value;
        const found = at({ ...resource, ...properties }, ...member.split('.'));
        return found === wanted ? [] : [`${id}: ${member} is ${textOf(found)}`];
      }),
    );
  },
}));
