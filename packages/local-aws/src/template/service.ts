// What a serverless.yml declares, as far as it runs here: functions, mappings, roles, queues and tables.
//
// Assumes a file that osls accepts; a schema checks what is read here, so that a declaration that would be ignored
// (an unknown event source, say) is an error and not a silent difference from the deployment. References between
// resources stay as logical ids; addresses are given to them where the resources exist (deployment/).
import path from 'node:path';
import * as v from 'valibot';
import { readRole, type RoleDeclaration } from '../iam/policy.ts';
import type {
  MappedFunction,
  MappedService,
  QueueMapping,
} from '../event-source-mapping/declarations.ts';
import { decideResources } from './conditions.ts';
import { readYamlFile, type Json } from './yaml-file.ts';

const arnSchema = v.pipe(
  v.object({ 'Fn::GetAtt': v.tuple([v.string(), v.literal('Arn')]) }),
  v.transform((reference) => reference['Fn::GetAtt'][0]),
);

const sqsEventSchema = v.strictObject({
  sqs: v.strictObject({
    arn: arnSchema,
    batchSize: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(10)), 10),
    enabled: v.optional(v.boolean(), true),
    functionResponseType: v.optional(v.literal('ReportBatchItemFailures')),
    maximumConcurrency: v.optional(v.pipe(v.number(), v.minValue(2), v.maxValue(1000))),
  }),
});

const scheduleEventSchema = v.strictObject({
  schedule: v.strictObject({
    rate: v.pipe(v.string(), v.regex(/^rate\(\d+ (minute|hour|day)s?\)$/)),
    enabled: v.optional(v.boolean(), true),
  }),
});

const functionSchema = v.looseObject({
  handler: v.string(),
  // A role of its own for every function: osls would give those without one a common role.
  role: v.string(),
  timeout: v.optional(v.number(), 6),
  memorySize: v.optional(v.number(), 1024),
  events: v.optional(v.array(v.union([sqsEventSchema, scheduleEventSchema])), []),
});

const queueSchema = v.looseObject({
  Type: v.literal('AWS::SQS::Queue'),
  Properties: v.looseObject({ QueueName: v.string() }),
});

const tableSchema = v.looseObject({
  Type: v.literal('AWS::DynamoDB::Table'),
  Properties: v.looseObject({
    TableName: v.string(),
    AttributeDefinitions: v.array(
      v.strictObject({ AttributeName: v.string(), AttributeType: v.picklist(['S', 'N', 'B']) }),
    ),
    KeySchema: v.array(
      v.strictObject({ AttributeName: v.string(), KeyType: v.picklist(['HASH', 'RANGE']) }),
    ),
  }),
});

/** A text, or the address of a resource: its ARN becomes a reference to it as well, marked as such. */
const environmentValueSchema = v.union([
  v.string(),
  v.object({ Ref: v.string() }),
  v.pipe(
    arnSchema,
    v.transform((id) => ({ arnOf: id })),
  ),
]);

const jsonSchema = v.custom<Json>(() => true);

const serviceSchema = v.looseObject({
  service: v.string(),
  provider: v.looseObject({
    region: v.string(),
    environment: v.optional(v.record(v.string(), environmentValueSchema), {}),
  }),
  functions: v.record(v.string(), functionSchema),
  // Extensions change what osls makes of functions: memory, network. Nothing of it exists here.
  resources: v.array(
    v.looseObject({
      Resources: v.optional(v.record(v.string(), jsonSchema), {}),
      Conditions: v.optional(v.record(v.string(), jsonSchema), {}),
    }),
  ),
});

const typedSchema = v.looseObject({ Type: v.string() });

/** A function as declared. */
export interface FunctionDeclaration extends MappedFunction {
  /** Logical id of its role. */
  readonly roleId: string;
}

/** A queue as declared; the target of a RedrivePolicy is a logical id. */
export interface QueueDeclaration {
  readonly id: string;
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly redrive?: { readonly queueId: string; readonly maxReceiveCount: number } | undefined;
}

/** A table as declared. */
export interface TableDeclaration {
  readonly id: string;
  readonly name: string;
  readonly attributeDefinitions: readonly {
    readonly AttributeName: string;
    readonly AttributeType: 'S' | 'N' | 'B';
  }[];
  readonly keySchema: readonly {
    readonly AttributeName: string;
    readonly KeyType: 'HASH' | 'RANGE';
  }[];
}

/** A value in the environment of the functions: a text, what Ref gives of a resource, or its ARN. */
export type EnvironmentValue = string | { readonly Ref: string } | { readonly arnOf: string };

/** Everything that is taken from a serverless.yml. */
export interface ServiceDeclaration extends MappedService {
  /** Values are texts, or the logical id of the resource that they refer to. */
  readonly environment: Readonly<Record<string, EnvironmentValue>>;
  readonly functions: readonly FunctionDeclaration[];
  readonly queues: readonly QueueDeclaration[];
  readonly tables: readonly TableDeclaration[];
  readonly roles: readonly RoleDeclaration[];
  /** Logical ids of keys. There is no key service here: they have an ARN, and nothing can be sealed. */
  readonly keyIds: readonly string[];
}

/** Reads a serverless.yml with its fragments for one stage. */
export function readService(serverlessFile: string, stage: string): ServiceDeclaration {
  const raw = readYamlFile(serverlessFile);
  const serviceDirectory = path.dirname(path.resolve(serverlessFile));
  const resolved = resolveVariables(raw, { serviceDirectory, service: raw, options: { stage } });
  const service = v.parse(serviceSchema, resolved);
  const conditions = Object.assign({}, ...service.resources.map((one) => one.Conditions)) as Record<
    string,
    Json
  >;
  const resources = service.resources.flatMap(({ Resources }) =>
    Object.entries(decideResources(Resources, conditions)),
  );
  const ofType = (type: string): [string, unknown][] =>
    resources.filter(([, resource]) => v.parse(typedSchema, resource).Type === type);
  return {
    service: service.service,
    stage,
    region: service.provider.region,
    environment: service.provider.environment,
    functions: Object.entries(service.functions).map(([name, declared]) =>
      readFunction(name, declared),
    ),
    queues: ofType('AWS::SQS::Queue').map(([id, resource]) => readQueue(id, resource)),
    tables: ofType('AWS::DynamoDB::Table').map(([id, resource]) => readTable(id, resource)),
    roles: ofType('AWS::IAM::Role').map(([id, resource]) => readRole(id, resource)),
    keyIds: ofType('AWS::KMS::Key').map(([id]) => id),
  };
}

function readFunction(
  name: string,
  declared: v.InferOutput<typeof functionSchema>,
): FunctionDeclaration {
  const queueMappings: QueueMapping[] = [];
  const schedulePeriodsMs: number[] = [];
  for (const event of declared.events) {
    if ('schedule' in event) {
      if (event.schedule.enabled) schedulePeriodsMs.push(parseRateMs(event.schedule.rate));
    } else if (event.sqs.enabled) {
      queueMappings.push({
        queueId: event.sqs.arn,
        batchSize: event.sqs.batchSize,
        reportsBatchItemFailures: event.sqs.functionResponseType !== undefined,
        maximumConcurrency: event.sqs.maximumConcurrency,
      });
    }
  }
  return {
    name,
    roleId: declared.role,
    timeoutMs: declared.timeout * 1000,
    memoryMegabytes: declared.memorySize,
    queueMappings,
    schedulePeriodsMs,
  };
}

function parseRateMs(rate: string): number {
  const [, count, unit] = /^rate\((\d+) (minute|hour|day)s?\)$/.exec(rate) ?? [];
  const unitMs = { minute: 60_000, hour: 3_600_000, day: 86_400_000 }[unit ?? ''];
  if (unitMs === undefined) throw new Error(`"${rate}" is no rate`);
  return Number(count) * unitMs;
}

const redrivePolicySchema = v.object({
  deadLetterTargetArn: arnSchema,
  maxReceiveCount: v.number(),
});

function readQueue(id: string, resource: unknown): QueueDeclaration {
  const { QueueName: name, RedrivePolicy, ...rest } = v.parse(queueSchema, resource).Properties;
  const policy =
    RedrivePolicy === undefined ? undefined : v.parse(redrivePolicySchema, RedrivePolicy);
  const attributes = v.parse(
    v.record(
      v.string(),
      v.pipe(v.union([v.string(), v.number(), v.boolean()]), v.transform(String)),
    ),
    rest,
  );
  return {
    id,
    name,
    attributes,
    redrive: policy && {
      queueId: policy.deadLetterTargetArn,
      maxReceiveCount: policy.maxReceiveCount,
    },
  };
}

function readTable(id: string, resource: unknown): TableDeclaration {
  const { Properties: properties } = v.parse(tableSchema, resource);
  return {
    id,
    name: properties.TableName,
    attributeDefinitions: properties.AttributeDefinitions,
    keySchema: properties.KeySchema,
  };
}

/** What variables are resolved against. */
interface VariableContext {
  readonly serviceDirectory: string;
  readonly service: Json;
  /** Command-line options; `stage` among them also answers ${sls:stage}. */
  readonly options: Readonly<Record<string, string>>;
}

const referencePattern = /\$\{(?!AWS::)([^{}]+)\}/;
const wholePattern = /^\$\{(?!AWS::)([^{}]+)\}$/;
const depthMax = 20;

/** A value with all its variables resolved. */
function resolveVariables(value: Json, context: VariableContext, depth = 0): Json {
  if (depth > depthMax) throw new Error('variables refer to each other in a circle');
  if (typeof value === 'string') return resolveText(value, context, depth);
  if (Array.isArray(value)) return value.map((item) => resolveVariables(item, context, depth));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, resolveVariables(item, context, depth)]),
  );
}

function resolveText(text: string, context: VariableContext, depth: number): Json {
  const whole = wholePattern.exec(text)?.[1];
  const resolve = (reference: string): Json =>
    resolveVariables(lookUp(reference.trim(), context), context, depth + 1);
  if (whole !== undefined) return resolve(whole);
  if (!referencePattern.test(text)) return text;
  const replaced = text.replaceAll(
    new RegExp(referencePattern, 'g'),
    (_match, reference: string) => {
      const found = resolve(reference);
      if (typeof found === 'string' || typeof found === 'number') return String(found);
      throw new Error(`\${${reference}} stands inside of text and is no text: ${text}`);
    },
  );
  // A reference may have held another one: that was replaced first.
  return resolveVariables(replaced, context, depth + 1);
}

function lookUp(reference: string, context: VariableContext): Json {
  const file = /^file\(([^)]+)\)(?::(.+))?$/.exec(reference);
  if (file?.[1] !== undefined) {
    const content = readYamlFile(path.resolve(context.serviceDirectory, file[1]));
    return file[2] === undefined ? content : follow(content, file[2], reference);
  }
  if (reference.startsWith('self:')) return follow(context.service, reference.slice(5), reference);
  if (reference.startsWith('param:')) return parameter(reference.slice(6), context);
  const option = /^opt:([\w-]+)(?:\s*,\s*'([^']*)')?$/.exec(reference);
  const optionName = reference === 'sls:stage' ? 'stage' : option?.[1];
  const value = optionName === undefined ? undefined : context.options[optionName];
  const found = value ?? option?.[2];
  if (found === undefined) throw new Error(`cannot resolve \${${reference}}`);
  return found;
}

/** As osls looks a parameter up, without those of the command line. */
function parameter(name: string, { service, options }: VariableContext): Json {
  const blocks = [options['stage'] ?? 'default', 'default'];
  const found = blocks
    .map((block) => find(service, ['params', block, name]))
    .find((value) => value !== undefined && value !== null);
  if (found === undefined) throw new Error(`cannot resolve \${param:${name}}`);
  return found;
}

function follow(value: Json, keys: string, reference: string): Json {
  const found = find(value, keys.split('.'));
  if (found === undefined) throw new Error(`cannot resolve \${${reference}}`);
  return found;
}

function find(value: Json, keys: readonly string[]): Json | undefined {
  let current: Json | undefined = value;
  for (const key of keys) {
    const isMap: boolean =
      typeof current === 'object' && current !== null && !Array.isArray(current);
    current = isMap ? (current as Record<string, Json>)[key] : undefined;
  }
  return current;
}
