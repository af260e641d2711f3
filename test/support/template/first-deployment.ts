/**
 * A first deployment that fails, replayed over a template's graph: each resource in turn cannot be made, CloudFormation
 * rolls back, and the template is deployed once more (aws-rules F2).
 *
 * The worst order is assumed: whatever does not wait for the failed resource was made before it failed, and the failed
 * one as well (a handler that fails in its second call leaves what its first one made). What AWS then does: a resource
 * of policy `Retain` stays; a protected table cannot be deleted, so the rollback itself fails; whatever stays under a
 * fixed name is refused to the next deployment as already there. A queue's name is free again after 60 s; here the next
 * deployment comes later than that.
 */
import { at, isMap, ofType, textsIn, type Resource, type Rule, type Value } from './template.ts';

/** Properties that fix the name of what is made. */
const NAMES = [
  'AlarmName',
  'AliasName',
  'BucketName',
  'DashboardName',
  'FunctionName',
  'LogGroupName',
  'Name',
  'QueueName',
  'RoleName',
  'TableName',
];
/** Named by something else: an issuer is known once in an account. */
const NAMED_BY: Readonly<Record<string, string>> = { 'AWS::IAM::OIDCProvider': 'Url' };

/** Logical ids that a value refers to, among those given. */
function referred(value: Value | undefined, ids: ReadonlySet<string>): readonly string[] {
  if (Array.isArray(value)) return (value as readonly Value[]).flatMap((one) => referred(one, ids));
  if (!isMap(value)) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    if (key === 'Ref' && typeof inner === 'string') return ids.has(inner) ? [inner] : [];
    if (key === 'Fn::GetAtt') {
      const [id = ''] = textsIn(inner).flatMap((text) => text.split('.'));
      return ids.has(id) ? [id] : [];
    }
    if (key === 'Fn::Sub') {
      const names = textsIn(inner).flatMap((text) => [...text.matchAll(/\$\{([A-Za-z0-9]+)/g)]);
      return names.map(([, id = '']) => id).filter((id) => ids.has(id));
    }
    return referred(inner, ids);
  });
}

function dependenciesOf(
  resources: Readonly<Record<string, Resource>>,
): ReadonlyMap<string, ReadonlySet<string>> {
  const ids = new Set(Object.keys(resources));
  return new Map(
    Object.entries(resources).map(([id, resource]) => {
      const named = textsIn(resource.DependsOn ?? null).filter((one) => ids.has(one));
      return [id, new Set([...named, ...referred(resource.Properties, ids)])];
    }),
  );
}

function waitsFor(
  id: string,
  target: string,
  graph: ReadonlyMap<string, ReadonlySet<string>>,
): boolean {
  return [...(graph.get(id) ?? [])].some(
    (next) => next === target || waitsFor(next, target, graph),
  );
}

const hasFixedName = ({ Type, Properties }: Resource): boolean =>
  [...NAMES, NAMED_BY[Type] ?? ''].some((name) => at(Properties, name) !== undefined);

/** What the next deployment runs into when `failing` cannot be made; nothing when it passes. */
export function replayFailure(
  resources: Readonly<Record<string, Resource>>,
  failing: string,
): readonly string[] {
  const graph = dependenciesOf(resources);
  const made = Object.entries(resources).filter(([id]) => !waitsFor(id, failing, graph));
  return made.flatMap(([id, resource]) => {
    const { DeletionPolicy: policy = 'Delete', Properties: properties } = resource;
    const stays = policy === 'Retain' || policy === 'Snapshot';
    if (stays && hasFixedName(resource)) return [`${id} exists already`];
    // Anything but `false` may be true for some deployment.
    const protection = at(properties, 'DeletionProtectionEnabled') ?? false;
    const isProtected = resource.Type === 'AWS::DynamoDB::Table' && protection !== false;
    return !stays && isProtected ? [`${id} cannot be rolled back: it is protected`] : [];
  });
}

const passesNextTime: Rule = {
  name: 'a first deployment that fails at any resource leaves nothing that stops the next one (F2)',
  check: ({ Resources: resources }) => {
    const faults = Object.keys(resources).flatMap((failing) =>
      replayFailure(resources, failing).map((fault) => `after ${failing} failed: ${fault}`),
    );
    return faults.slice(0, 20);
  },
};

const madeLate: Rule = {
  name: 'a resource that outlives the stack is made after what is likeliest to fail (F2)',
  check: (template) => {
    const graph = dependenciesOf(template.Resources);
    const early = Object.entries(template.Resources)
      .filter(([, { DeletionPolicy: policy }]) => policy === 'RetainExceptOnCreate')
      .flatMap(([id]) =>
        ofType(template, 'AWS::KMS::Key').map((key) => ({
          fault: `${id} does not wait for ${key.id}`,
          waits: waitsFor(id, key.id, graph),
        })),
      );
    return early.filter(({ waits }) => !waits).map(({ fault }) => fault);
  },
};

/** All of them. */
export const firstDeploymentRules: readonly Rule[] = [passesNextTime, madeLate];
