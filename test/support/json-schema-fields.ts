/**
 * Fields of a published JSON Schema, at every depth: for tests that hold each of them to a description and examples.
 */

/** As much of a JSON Schema as the published ones have. */
export interface JsonSchema {
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly description?: string;
  readonly examples?: readonly unknown[];
}

/** Every field, by its name, and each with its own schema. */
export function fieldsOf({
  properties = {},
  items,
  anyOf = [],
}: JsonSchema): readonly [string, JsonSchema][] {
  const inner = items === undefined ? anyOf : [...anyOf, items];
  return [
    ...Object.entries(properties),
    ...[...Object.values(properties), ...inner].flatMap(fieldsOf),
  ];
}
