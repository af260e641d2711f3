/**
 * A packaged CloudFormation template, as far as its rules look into it.
 *
 * Rules read it as it is: conditions are not decided, both branches of Fn::If count, so that what only some
 * deployment would have is judged as well.
 */

/** Any value of a template. */
export type Value = null | boolean | number | string | readonly Value[] | ValueMap;

/** A map of a template. */
export interface ValueMap {
  readonly [key: string]: Value;
}

export interface Resource {
  readonly Type: string;
  readonly Condition?: string;
  readonly DependsOn?: string | readonly string[];
  readonly DeletionPolicy?: string;
  readonly UpdateReplacePolicy?: string;
  readonly Properties?: ValueMap;
}

/** A packaged template. */
export interface Template {
  readonly Resources: Readonly<Record<string, Resource>>;
  readonly Outputs: Readonly<Record<string, ValueMap>>;
  readonly Conditions: ValueMap;
}

/** A rule: what is wrong, in words; nothing when it holds. */
export interface Rule {
  readonly name: string;
  readonly check: (template: Template, stage: string) => readonly string[];
}

/** A resource with its id; properties are never absent. */
export interface Identified {
  readonly id: string;
  readonly resource: Resource;
  readonly properties: ValueMap;
}

/** All resources of a type. */
export function ofType(template: Template, type: string): readonly Identified[] {
  return Object.entries(template.Resources)
    .filter(([, resource]) => resource.Type === type)
    .map(([id, resource]) => ({ id, resource, properties: resource.Properties ?? {} }));
}

/** True for a map. */
export function isMap(value: Value | undefined): value is ValueMap {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value at a path; undefined when something on the way is not there. */
export function at(
  value: Value | undefined,
  ...path: readonly (string | number)[]
): Value | undefined {
  let current: Value | undefined = value;
  for (const step of path) {
    if (Array.isArray(current)) current = (current as readonly Value[])[Number(step)];
    else current = isMap(current) ? current[String(step)] : undefined;
  }
  return current;
}

/** A value that may stand alone or in a list. */
export function listOf(value: Value | undefined): readonly Value[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? (value as readonly Value[]) : [value];
}

/** The logical id that Ref or the given attribute of Fn::GetAtt names. */
export function referredId(value: Value | undefined, attribute = 'Arn'): string | undefined {
  const ref = at(value, 'Ref');
  if (typeof ref === 'string') return ref;
  const [id, name] = listOf(at(value, 'Fn::GetAtt'));
  return typeof id === 'string' && name === attribute ? id : undefined;
}

/** All that a value can become: the branches of Fn::If, without AWS::NoValue. */
export function alternatives(value: Value): readonly Value[] {
  const chosen = at(value, 'Fn::If');
  if (chosen === undefined) return at(value, 'Ref') === 'AWS::NoValue' ? [] : [value];
  return listOf(chosen).slice(1).flatMap(alternatives);
}

/** Every text in a value. */
export function textsIn(value: Value): readonly string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return (value as readonly Value[]).flatMap(textsIn);
  return isMap(value) ? Object.values(value).flatMap(textsIn) : [];
}

/** A text as it is; anything else as JSON, so that it can be said. */
export function textOf(value: Value | undefined): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? null);
}
