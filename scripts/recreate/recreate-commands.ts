/**
 * From a packaged template to the commands that make one of its queues or tables again by hand (docs/operations.md).
 *
 * Pure. CloudFormation compares templates and never looks whether a resource is still there, so the owner of a lost one makes
 * it under the same name, with the template's own words. Knows the intrinsic functions that the template uses on queues,
 * tables and their policies; any other throws, so that no command is printed with a hole in it.
 */

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
type JsonMap = Readonly<Record<string, Json>>;

interface TemplateResource {
  readonly Type: string;
  readonly Condition?: string;
  readonly Properties?: JsonMap;
}

/** A packaged CloudFormation template, as far as this looks into it. */
export interface PackagedTemplate {
  readonly Resources: Readonly<Record<string, TemplateResource>>;
  readonly Conditions?: JsonMap;
}

/** Where the resource was. */
export interface Place {
  readonly account: string;
  readonly region: string;
  /** `aws` unless said. */
  readonly partition?: string;
}

/** A command line, word by word. */
export type CommandLine = readonly string[];

/** The resource cannot be made by these commands; the message says why. */
export class NotRecreatableError extends Error {
  override readonly name = 'NotRecreatableError';
}

/** Commands that make a queue or table again, in order. Throws NotRecreatableError. */
export function recreateCommands(
  template: PackagedTemplate,
  logicalId: string,
  place: Place,
): readonly CommandLine[] {
  const resource = template.Resources[logicalId];
  const resolver = new Resolver(template, place);
  if (resource?.Type === 'AWS::SQS::Queue') return queueCommands(logicalId, resolver);
  if (resource?.Type === 'AWS::DynamoDB::Table') return tableCommands(logicalId, resolver);
  const known = Object.entries(template.Resources)
    .filter(([, { Type: type }]) => /^AWS::(SQS::Queue|DynamoDB::Table)$/.test(type))
    .map(([id]) => id);
  throw new NotRecreatableError(`${logicalId} is none of: ${known.join(', ')}`);
}

function queueCommands(logicalId: string, resolver: Resolver): readonly CommandLine[] {
  const { QueueName: name, Tags: _tags, ...attributes } = resolver.properties(logicalId);
  const given = Object.entries(attributes).map(([key, value]) => [key, attributeText(value)]);
  const { region } = resolver.place;
  const url = resolver.queueUrl(logicalId);
  const create = ['aws', 'sqs', 'create-queue', '--region', region, '--queue-name', textOf(name)];
  const mappings = ['--region', region, '--event-source-arn', resolver.arn(logicalId)];
  return [
    [...create, '--attributes', JSON.stringify(Object.fromEntries(given))],
    ...resolver.policiesOf(logicalId).map((policy) => {
      const set = ['aws', 'sqs', 'set-queue-attributes', '--region', region, '--queue-url', url];
      return [...set, '--attributes', JSON.stringify({ Policy: JSON.stringify(policy) })];
    }),
    ['aws', 'lambda', 'list-event-source-mappings', ...mappings],
    [
      'aws',
      'lambda',
      'update-event-source-mapping',
      '--region',
      region,
      '--enabled',
      '--uuid',
      'UUID',
    ],
  ];
}

/** Text that the template must have there. */
function textOf(value: Json | undefined): string {
  if (typeof value === 'string') return value;
  throw new NotRecreatableError('the template has no text where a name is expected');
}

/** As the API of SQS takes them: text, and documents as JSON. */
function attributeText(value: Json): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

function tableCommands(logicalId: string, resolver: Resolver): readonly CommandLine[] {
  const properties = resolver.properties(logicalId);
  const name = textOf(properties['TableName']);
  const where = ['--region', resolver.place.region, '--table-name', name];
  const json = (key: string): string => JSON.stringify(properties[key] ?? null);
  const sse = properties['SSESpecification'] as JsonMap | undefined;
  const create = ['aws', 'dynamodb', 'create-table', ...where];
  const keys = [
    '--attribute-definitions',
    json('AttributeDefinitions'),
    '--key-schema',
    json('KeySchema'),
  ];
  const encryption = JSON.stringify({ Enabled: sse?.['SSEEnabled'] === true });
  const recovery = properties['PointInTimeRecoverySpecification'];
  return [
    [
      ...create,
      '--billing-mode',
      textOf(properties['BillingMode']),
      ...keys,
      '--sse-specification',
      encryption,
    ],
    ['aws', 'dynamodb', 'wait', 'table-exists', ...where],
    ...(recovery === undefined
      ? []
      : [
          [
            ...['aws', 'dynamodb', 'update-continuous-backups', ...where],
            ...['--point-in-time-recovery-specification', JSON.stringify(recovery)],
          ],
        ]),
  ];
}

/** Resolves what a template leaves to CloudFormation. */
class Resolver {
  readonly #template: PackagedTemplate;
  readonly place: Required<Place>;

  constructor(template: PackagedTemplate, place: Place) {
    this.#template = template;
    this.place = { partition: 'aws', ...place };
  }

  properties(logicalId: string): JsonMap {
    return this.resolve(this.#template.Resources[logicalId]?.Properties ?? {}) as JsonMap;
  }

  arn(logicalId: string): string {
    const { partition, region, account } = this.place;
    const resource = this.#template.Resources[logicalId];
    const name = resource?.Properties?.['QueueName'];
    if (resource?.Type !== 'AWS::SQS::Queue' || typeof name !== 'string') {
      throw new NotRecreatableError(`the ARN of ${logicalId} cannot be told from the template`);
    }
    return `arn:${partition}:sqs:${region}:${account}:${name}`;
  }

  queueUrl(logicalId: string): string {
    const { region, account, partition } = this.place;
    const domain = partition === 'aws-cn' ? 'amazonaws.com.cn' : 'amazonaws.com';
    const name = this.arn(logicalId).split(':').at(-1) ?? '';
    return `https://sqs.${region}.${domain}/${account}/${name}`;
  }

  /** Documents of the queue policies that stand for a queue. */
  policiesOf(logicalId: string): readonly Json[] {
    return Object.values(this.#template.Resources)
      .filter(({ Type: type, Condition: condition }) => {
        const stands = condition === undefined || this.#isTrue(this.#condition(condition));
        return type === 'AWS::SQS::QueuePolicy' && stands;
      })
      .filter(({ Properties: properties }) =>
        JSON.stringify(properties?.['Queues']).includes(`{"Ref":"${logicalId}"}`),
      )
      .map(({ Properties: properties }) => this.resolve(properties?.['PolicyDocument'] ?? null));
  }

  resolve(value: Json): Json {
    if (Array.isArray(value)) return value.map((one: Json) => this.resolve(one));
    if (typeof value !== 'object' || value === null) return value;
    const entries = Object.entries(value);
    const [[key, argument] = ['', null]] = entries;
    if (entries.length === 1 && (key === 'Ref' || key.startsWith('Fn::'))) {
      return this.#call(key, argument);
    }
    return Object.fromEntries(entries.map(([name, one]) => [name, this.resolve(one)]));
  }

  #call(name: string, argument: Json): Json {
    const { region, account, partition } = this.place;
    const pseudo = new Map(
      Object.entries({ Region: region, AccountId: account, Partition: partition }),
    );
    if (name === 'Ref' && typeof argument === 'string') {
      const found = pseudo.get(argument.replace('AWS::', ''));
      if (found !== undefined) return found;
    }
    if (name === 'Fn::GetAtt' && Array.isArray(argument) && argument[1] === 'Arn') {
      return this.arn(String(argument[0]));
    }
    throw new NotRecreatableError(`the template says ${name}, which this cannot resolve`);
  }

  #condition(name: string): Json {
    return this.#template.Conditions?.[name] ?? null;
  }

  #isTrue(condition: Json): boolean {
    const [[name, argument] = ['', null]] = Object.entries(condition ?? {}) as [string, Json][];
    const list = Array.isArray(argument) ? (argument as readonly Json[]) : [];
    if (name === 'Fn::Not') return !this.#isTrue(list[0] ?? null);
    if (name === 'Fn::Equals') return JSON.stringify(list[0]) === JSON.stringify(list[1]);
    if (name === 'Fn::And') return list.every((one) => this.#isTrue(one));
    if (name === 'Fn::Or') return list.some((one) => this.#isTrue(one));
    if (name === 'Condition') return this.#isTrue(this.#condition(textOf(argument)));
    throw new NotRecreatableError(`the template says ${name}, which this cannot decide`);
  }
}
