/**
 * What a deployment would do to resources that stand, from two packaged templates (aws-rules 9.5).
 *
 * CloudFormation makes a resource anew when a create-only property, its type or its logical id differs. One with a name of
 * its own cannot be made anew: the old one still bears the name (section 2), and the deployment fails in its midst. What
 * holds data is lost, or stays behind outside of the stack. Pure; conditions are not decided, both branches count, and a
 * value that differs only in how it refers to something counts as different.
 */
import { isDeepStrictEqual } from 'node:util';

/** A resource of a packaged template. */
export interface ComparedResource {
  readonly Type: string;
  readonly Properties?: Readonly<Record<string, unknown>>;
}

/** What is read of a packaged template. */
export interface ComparedTemplate {
  readonly Resources: Readonly<Record<string, ComparedResource>>;
}

/** What would become of one resource. */
export type ReleaseChange =
  /** Made anew, the old one deleted after it. */
  | { readonly kind: 'replaced'; readonly id: string; readonly because: string }
  /** To be made anew under a name that is taken: CloudFormation refuses. */
  | { readonly kind: 'refused'; readonly id: string; readonly because: string }
  | { readonly kind: 'removed'; readonly id: string; readonly type: string };

interface TypeRules {
  /** The property with the name of its own, if it can have one. */
  readonly name?: string;
  /** Properties that cannot be changed, beside the name; from the published schemas of CloudFormation's handlers. */
  readonly createOnly: readonly string[];
}

/** By type; of another type every change counts as a replacement, until a person has looked. */
export const TYPE_RULES: Readonly<Record<string, TypeRules>> = {
  'AWS::CloudWatch::Alarm': { name: 'AlarmName', createOnly: [] },
  'AWS::CloudWatch::Dashboard': { name: 'DashboardName', createOnly: [] },
  // Of the key schema and the attributes in it, a change means another table.
  'AWS::DynamoDB::Table': { name: 'TableName', createOnly: ['KeySchema', 'AttributeDefinitions'] },
  'AWS::Events::Rule': { name: 'Name', createOnly: ['EventBusName'] },
  'AWS::IAM::Role': { name: 'RoleName', createOnly: ['Path'] },
  'AWS::KMS::Key': { createOnly: [] },
  'AWS::Lambda::EventInvokeConfig': { createOnly: ['FunctionName', 'Qualifier'] },
  'AWS::Lambda::EventSourceMapping': { createOnly: ['EventSourceArn'] },
  'AWS::Lambda::Function': { name: 'FunctionName', createOnly: ['PackageType'] },
  'AWS::Lambda::Permission': {
    createOnly: ['Action', 'FunctionName', 'Principal', 'SourceAccount', 'SourceArn'],
  },
  'AWS::Logs::LogGroup': { name: 'LogGroupName', createOnly: [] },
  'AWS::S3::Bucket': { name: 'BucketName', createOnly: [] },
  'AWS::S3::BucketPolicy': { createOnly: ['Bucket'] },
  'AWS::SQS::Queue': { name: 'QueueName', createOnly: ['FifoQueue'] },
  'AWS::SQS::QueuePolicy': { createOnly: [] },
};

/** Changes from one release to the next, in the order of the older template. */
export function compareTemplates(
  before: ComparedTemplate,
  next: ComparedTemplate,
): readonly ReleaseChange[] {
  const standing = Object.entries(before.Resources).flatMap(([id, resource]) =>
    changeOf(id, resource, next.Resources[id]),
  );
  return [...standing, ...takenNames(before, next)];
}

function changeOf(
  id: string,
  before: ComparedResource,
  next: ComparedResource | undefined,
): readonly ReleaseChange[] {
  if (next === undefined) return [{ kind: 'removed', id, type: before.Type }];
  if (before.Type !== next.Type) {
    return [{ kind: 'refused', id, because: `its type was ${before.Type}, and is ${next.Type}` }];
  }
  const rules = TYPE_RULES[before.Type];
  const differs = (property: string): boolean =>
    !isDeepStrictEqual(before.Properties?.[property], next.Properties?.[property]);
  if (rules === undefined) {
    if (isDeepStrictEqual(before.Properties, next.Properties)) return [];
    return [{ kind: 'replaced', id, because: `no rule says yet what ${before.Type} can change` }];
  }
  const { name, createOnly } = rules;
  const changed = createOnly.filter(differs);
  if (name !== undefined && differs(name)) return [{ kind: 'replaced', id, because: name }];
  if (changed.length === 0) return [];
  const because = changed.join(', ');
  const isNamed = name !== undefined && next.Properties?.[name] !== undefined;
  return [{ kind: isNamed ? 'refused' : 'replaced', id, because }];
}

/** A resource under a new logical id, with the name that one of the release before bears until after it was made. */
function takenNames(before: ComparedTemplate, next: ComparedTemplate): readonly ReleaseChange[] {
  const names = Object.entries(before.Resources).map(([id, one]) => ({ id, name: nameOf(one) }));
  return Object.entries(next.Resources).flatMap(([id, resource]): readonly ReleaseChange[] => {
    const name = nameOf(resource);
    if (before.Resources[id] !== undefined || name === undefined) return [];
    const holder = names.find((one) => isDeepStrictEqual(one.name, name));
    if (holder === undefined) return [];
    return [{ kind: 'refused', id, because: `${holder.id} bears its name` }];
  });
}

function nameOf({ Type, Properties }: ComparedResource): unknown {
  const property = TYPE_RULES[Type]?.name;
  const name = property === undefined ? undefined : Properties?.[property];
  return name === undefined ? undefined : [Type, name];
}
