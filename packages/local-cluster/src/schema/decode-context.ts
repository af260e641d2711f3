/**
 * What one decoding gathers on its way through an object: the path, unknown fields, the first thing that did not fit.
 *
 * Decoding goes on after a misfit, as Go's does; only the first one is reported.
 */
import type { Json } from '@rollcall/base/json.ts';

/** The state of one decoding. */
export interface DecodeContext {
  /** Field names and list indexes from the root to where decoding is. */
  readonly path: (string | number)[];
  /** Names of the structs around, outermost first. */
  readonly structs: string[];
  readonly unknownFields: string[];
  /** Go's text for the first misfit. */
  failure?: string;
}

/** Decodes a value that is not null. The very same value comes back when nothing about it changes. */
export type Decoder = (value: Json, context: DecodeContext) => Json;

/** The path as the strict decoder prints it: `spec.containers[0].bar`. */
export function pathText(path: readonly (string | number)[]): string {
  let text = '';
  for (const part of path) {
    if (typeof part === 'number') text += `[${String(part)}]`;
    else text += text === '' ? part : `.${part}`;
  }
  return text;
}

/** Records that a value is not of the Go type; decoding goes on with the value. */
export function failType(context: DecodeContext, value: Json, goType: string): Json {
  const struct = context.structs.at(-1)?.split('.').at(-1) ?? '';
  const field = context.path.filter((part) => typeof part === 'string').join('.');
  const found = describe(value, goType);
  context.failure ??= `json: cannot unmarshal ${found} into Go struct field ${struct}.${field} of type ${goType}`;
  return value;
}

/** Records a misfit in other words. */
export function failWith(context: DecodeContext, value: Json, message: string): Json {
  context.failure ??= message;
  return value;
}

function describe(value: Json, goType: string): string {
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value !== 'number') return typeof value;
  return goType.startsWith('int') ? `number ${String(value)}` : 'number';
}
