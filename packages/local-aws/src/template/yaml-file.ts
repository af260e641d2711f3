// Reads a YAML file with CloudFormation's short forms into plain JSON values.
//
// `!Ref X` becomes {Ref: 'X'}, `!GetAtt A.B` becomes {'Fn::GetAtt': ['A', 'B']}, `!Sub` becomes {'Fn::Sub': …}, as
// CloudFormation itself reads them. Any other tag is an error: a template that uses more must teach it here first.
import { readFileSync } from 'node:fs';
import { parse, type ScalarTag } from 'yaml';

/** A JSON value, as YAML gives it. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

function splitAttribute(text: string): string[] {
  const dot = text.indexOf('.');
  return [text.slice(0, dot), text.slice(dot + 1)];
}

const cloudFormationTags: ScalarTag[] = [
  { tag: '!Ref', resolve: (text) => ({ Ref: text }) },
  { tag: '!GetAtt', resolve: (text) => ({ 'Fn::GetAtt': splitAttribute(text) }) },
  { tag: '!Sub', resolve: (text) => ({ 'Fn::Sub': text }) },
];

/** Documents by their text: a process that starts the same service again and again parses its files once. */
const parsed = new Map<string, Json>();

/** Reads and parses one file; errors name it. The value is the caller's own. */
export function readYamlFile(file: string): Json {
  const text = readFileSync(file, 'utf8');
  try {
    const known =
      parsed.get(text) ??
      (parse(text, { customTags: cloudFormationTags, logLevel: 'error' }) as Json);
    parsed.set(text, known);
    return structuredClone(known);
  } catch (cause) {
    throw new Error(`${file} cannot be read as YAML`, { cause });
  }
}
