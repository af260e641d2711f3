/**
 * Every policy of a template as AWS would get it, for a linter that knows no intrinsic functions: references become
 * ARNs of the kind that they stand for, both branches of a condition count.
 */
import {
  alternatives,
  at,
  isMap,
  listOf,
  ofType,
  textOf,
} from '../../support/template/template.ts';
import type { Template, Value } from '../../support/template/template.ts';

/** A policy document, with where it stands. */
export interface WrittenPolicy {
  readonly name: string;
  readonly document: Value;
}

const ARNS: Readonly<Record<string, string>> = {
  'AWS::DynamoDB::Table': 'arn:aws:dynamodb:us-east-1:111122223333:table/example',
  'AWS::KMS::Key': 'arn:aws:kms:us-east-1:111122223333:key/11111111-2222-3333-4444-555555555555',
  'AWS::Logs::LogGroup': 'arn:aws:logs:us-east-1:111122223333:log-group:/aws/lambda/example:*',
  'AWS::SQS::Queue': 'arn:aws:sqs:us-east-1:111122223333:example',
};
/** Parameters of infra/cluster/roles.yml that are addresses. */
const PARAMETERS: Readonly<Record<string, string | undefined>> = {
  EventsQueueArn: ARNS['AWS::SQS::Queue'],
  CredentialsQueueArn: ARNS['AWS::SQS::Queue'],
  CredentialsKeyArn: ARNS['AWS::KMS::Key'],
  ClusterId: 'cluster',
  ClusterUid: 'uid',
};

export function policiesOf(template: Template): readonly WrittenPolicy[] {
  return ofType(template, 'AWS::IAM::Role').flatMap(({ id, properties }) =>
    listOf(properties['Policies']).map((policy) => ({
      name: `${id}-${textOf(at(policy, 'PolicyName'))}`,
      document: resolve(at(policy, 'PolicyDocument') ?? null, template),
    })),
  );
}

/** The policies of queues and keys, as those of an identity: without their principals, and with their own resource. */
export function resourcePoliciesOf(template: Template): readonly WrittenPolicy[] {
  const documents = [
    ...ofType(template, 'AWS::SQS::QueuePolicy').map(({ id, properties }) => ({
      ...{ name: id, property: 'PolicyDocument', properties, arn: ARNS['AWS::SQS::Queue'] },
    })),
    ...ofType(template, 'AWS::KMS::Key').map(({ id, properties }) => ({
      ...{ name: id, property: 'KeyPolicy', properties, arn: ARNS['AWS::KMS::Key'] },
    })),
  ];
  return documents.map(({ name, property, properties, arn = '' }) => {
    const statements = listOf(at(properties, property, 'Statement')).flatMap(alternatives);
    const own = statements.filter(isMap).map(({ Principal: _, ...statement }) => ({
      ...(resolve(statement, template) as Readonly<Record<string, Value>>),
      Resource: arn,
    }));
    return { name, document: { Version: '2012-10-17', Statement: own } };
  });
}

function resolve(value: Value, template: Template): Value {
  if (Array.isArray(value)) {
    return (value as readonly Value[]).flatMap(alternatives).map((one) => resolve(one, template));
  }
  if (!isMap(value)) return value;
  const [target] = listOf(at(value, 'Fn::GetAtt'));
  const ref = at(value, 'Ref');
  const id = typeof target === 'string' ? target : typeof ref === 'string' ? ref : undefined;
  if (id !== undefined) {
    const known = PARAMETERS[id] ?? ARNS[template.Resources[id]?.Type ?? ''];
    if (known === undefined) throw new Error(`a policy refers to ${id}: what is its ARN like?`);
    return known;
  }
  const substituted = at(value, 'Fn::Sub');
  if (typeof substituted === 'string') {
    return substituted
      .replaceAll('${AWS::Partition}', 'aws')
      .replaceAll('${AWS::Region}', 'us-east-1')
      .replaceAll('${AWS::AccountId}', '111122223333');
  }
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, resolve(inner, template)]),
  );
}
