/**
 * Runs an object through the rules of its resource as the verbs do, without store, server or clock.
 */
import assert from 'node:assert/strict';
import type { Json, JsonObject } from '@rollcall/base/json.ts';
import { isJsonObject } from '@rollcall/base/json.ts';
import type { ApiObject, Metadata } from '../../src/objects/api-object.ts';
import { RESOURCES } from '../../src/resources/all.ts';
import type {
  FieldError,
  Refusal,
  Resource,
  RuleContext,
  Subresource,
} from '../../src/resources/shared/resource.ts';
import { createSchema } from '../../src/schema/create-schema.ts';

const schema = createSchema();

/** The system classes, a zoned node and the account that admission looks for. */
const KNOWN: ReadonlyMap<string, JsonObject> = new Map<string, JsonObject>([
  ['serviceaccounts/default', {}],
  [
    'priorityclasses.scheduling.k8s.io/system-node-critical',
    { value: 2_000_001_000, preemptionPolicy: 'PreemptLowerPriority' },
  ],
  [
    'nodes/zoned',
    { metadata: { name: 'zoned', labels: { 'topology.kubernetes.io/zone': 'a', other: 'x' } } },
  ],
]);

/** A context in which it is New Year 2026 and `serviceaccounts/default` exists. */
export const TEST_CONTEXT: RuleContext = {
  nowText: '2026-01-01T00:00:00Z',
  uniqueId: () => '0123456789abcdefghijklmn',
  read: ({ resource, name }) => {
    const found = KNOWN.get(`${resource}/${name}`);
    if (found === undefined) return undefined;
    // Rules read the members given here and no others.
    return { apiVersion: 'v1', kind: 'Any', metadata: { name }, ...found } as unknown as ApiObject;
  },
};

/** What the rules made of a request. */
export type RuleOutcome =
  | { readonly kind: 'accepted'; readonly object: ApiObject }
  | { readonly kind: 'invalid'; readonly errors: readonly FieldError[] }
  | { readonly kind: 'refused'; readonly refusal: Refusal };

/** The resource of this plural. */
export function resourceNamed(plural: string): Resource {
  const found = RESOURCES.find((resource) => resource.plural === plural);
  assert.ok(found, `no resource ${plural}`);
  return found;
}

/** A POST. */
export function createByRules(resource: Resource, body: JsonObject): RuleOutcome {
  const { rules } = resource;
  const asked = rules.applyDefaults(withSystemFields(decodeAs(resource, body)));
  const admitted = rules.admit?.(asked, TEST_CONTEXT) ?? asked;
  if (!('metadata' in admitted)) return { kind: 'refused', refusal: admitted };
  const prepared = rules.prepareForCreate(admitted, TEST_CONTEXT);
  const errors = rules.validateCreate(prepared);
  if (errors.length > 0) return { kind: 'invalid', errors };
  const refusal = rules.refuse?.(prepared, TEST_CONTEXT);
  return refusal === undefined
    ? { kind: 'accepted', object: prepared }
    : { kind: 'refused', refusal };
}

/** A PUT of a whole object, to the object itself or to a view of it. */
export function updateByRules(
  resource: Resource,
  input: { readonly next: JsonObject; readonly current: ApiObject; readonly view?: string },
): RuleOutcome {
  const { next, current, view } = input;
  const rules = view === undefined ? resource.rules : viewNamed(resource, view);
  const asked = resource.rules.applyDefaults(decodeAs(resource, next));
  const prepared = rules.prepareForUpdate(asked, current);
  const errors = rules.validateUpdate(prepared, current);
  return errors.length > 0 ? { kind: 'invalid', errors } : { kind: 'accepted', object: prepared };
}

/** The object of an accepted POST; fails when it was not accepted. */
export function acceptedByRules(resource: Resource, body: JsonObject): ApiObject {
  const outcome = createByRules(resource, body);
  assert.equal(outcome.kind, 'accepted', JSON.stringify(outcome));
  return outcome.object;
}

/** `FieldValueInvalid spec.foo`, sorted, as the recordings hold causes. */
export function causesOf(errors: readonly FieldError[]): readonly string[] {
  return errors.map(({ type, field }) => `${type} ${field}`).sort();
}

/** A copy with one member set or, for undefined, taken away; `spec.containers.0.name`. */
export function withPath(body: JsonObject, path: string, value: Json | undefined): JsonObject {
  const [first = '', ...rest] = path.split('.');
  const edited = editMember(body[first], rest, value);
  if (edited !== undefined) return { ...body, [first]: edited };
  const { [first]: _dropped, ...others } = body;
  return others;
}

function editMember(
  member: Json | undefined,
  path: readonly string[],
  value: Json | undefined,
): Json | undefined {
  const [next, ...rest] = path;
  if (next === undefined) return value;
  if (/^\d+$/.test(next)) {
    const list: Json[] = Array.isArray(member) ? [...(member as readonly Json[])] : [];
    const edited = editMember(list[Number(next)], rest, value);
    if (edited !== undefined) list[Number(next)] = edited;
    return list;
  }
  return withPath(isJsonObject(member) ? member : {}, path.join('.'), value);
}

function decodeAs({ group, version, kind }: Resource, body: JsonObject): ApiObject {
  const outcome = schema.decode({ group, version, kind }, body);
  assert.equal(outcome.kind, 'decoded', JSON.stringify(outcome));
  return outcome.object;
}

/** What the verbs fill in before the rules look. */
function withSystemFields(object: ApiObject): ApiObject {
  const metadata: Metadata = {
    ...object.metadata,
    uid: 'test-uid',
    creationTimestamp: '2026-01-01T00:00:00Z',
    resourceVersion: '1',
  };
  return { ...object, metadata };
}

function viewNamed(resource: Resource, name: string): Extract<Subresource, { kind: 'view' }> {
  const view = resource.subresources.find((it) => it.name === name);
  assert.ok(view?.kind === 'view', `no view ${name}`);
  return view;
}
