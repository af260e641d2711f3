// Reads the fields of a request: unknown JSON in, typed values or an SqsError out.
//
// Written by hand rather than with the schema library: these run for every message of the local engine, whose
// processor time is measured against the built-in controller's.
import { sqsErrors } from '../queue/errors.ts';
import type { MessageAttributes, MessageAttributeValue } from '../queue/message.ts';

/** A parsed JSON object whose fields are not known yet. */
export type Fields = Readonly<Record<string, unknown>>;

/** The value as an object, or an error. */
export function readObject(value: unknown, what: string): Fields {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields;
  throw sqsErrors.serialization(`${what} is not an object.`);
}

/** An optional string. */
export function readOptionalString(fields: Fields, name: string): string | undefined {
  const value = fields[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'string') return value;
  throw sqsErrors.serialization(`${name} is not a string.`);
}

/** A string that must be there. */
export function readString(fields: Fields, name: string): string {
  const value = readOptionalString(fields, name);
  if (value !== undefined && value !== '') return value;
  throw sqsErrors.missingParameter(`The request must contain the parameter ${name}.`);
}

/** An optional integer within bounds. */
export function readOptionalInteger(
  fields: Fields,
  name: string,
  bounds: { readonly min: number; readonly max: number },
): number | undefined {
  const value = fields[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'number' && Number.isInteger(value)) {
    if (value >= bounds.min && value <= bounds.max) return value;
  }
  throw sqsErrors.invalidParameterValue(
    `Value ${JSON.stringify(value)} for parameter ${name} is invalid. Reason: Must be between ${bounds.min} and ${bounds.max}, if provided.`,
  );
}

/** An optional list of strings; absent means empty. */
export function readStrings(fields: Fields, name: string): readonly string[] {
  const value = fields[name];
  if (value === undefined || value === null) return [];
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value;
  throw sqsErrors.serialization(`${name} is not a list of strings.`);
}

/** An optional map of strings; absent means empty. */
export function readStringMap(fields: Fields, name: string): Readonly<Record<string, string>> {
  const value = fields[name];
  if (value === undefined || value === null) return {};
  const map = readObject(value, name);
  if (Object.values(map).every((item) => typeof item === 'string')) {
    return map as Record<string, string>;
  }
  throw sqsErrors.serialization(`${name} holds something other than strings.`);
}

/** Message attributes, each with a type and a matching value. */
export function readMessageAttributes(fields: Fields, name: string): MessageAttributes | undefined {
  const value = fields[name];
  if (value === undefined || value === null) return undefined;
  const attributes: Record<string, MessageAttributeValue> = {};
  for (const [key, item] of Object.entries(readObject(value, name))) {
    attributes[key] = readMessageAttribute(key, readObject(item, `${name}.${key}`));
  }
  return Object.keys(attributes).length === 0 ? undefined : attributes;
}

function readMessageAttribute(key: string, fields: Fields): MessageAttributeValue {
  const dataType = readOptionalString(fields, 'DataType') ?? '';
  if (!/^(String|Number|Binary)(\..+)?$/.test(dataType)) {
    throw sqsErrors.invalidParameterValue(
      `The type of message (user) attribute '${key}' is invalid: "${dataType}".`,
    );
  }
  const valueName = dataType.startsWith('Binary') ? 'BinaryValue' : 'StringValue';
  const text = readOptionalString(fields, valueName);
  if (text === undefined || text === '') {
    throw sqsErrors.invalidParameterValue(
      `The message (user) attribute '${key}' must contain a non-empty value of type '${dataType}'.`,
    );
  }
  return { DataType: dataType, [valueName]: text };
}
