/**
 * JSON Patch (RFC 6902), with the habits of the real server's library: `replace` of a missing member adds it, a `replace`
 * of the whole document is taken, what is before the first slash of a path is not looked at, and an operation that is not
 * known or not complete is a failure to apply, not a malformed patch.
 *
 * Works on a copy, since the library used here writes in place: JSON patches are rare enough. Checks that the library
 * leaves to its caller (indexes of lists) are made here first.
 */
import { applyPatch } from 'rfc6902';
import type { Operation } from 'rfc6902';
import { isJsonObject } from '../json.ts';
import type { Json, JsonObject } from '../json.ts';
import type { PatchOutcome } from './patch-outcome.ts';
import { PatchError } from './patch-outcome.ts';

const OPERATIONS = new Set(['add', 'remove', 'replace', 'move', 'copy', 'test']);
const MEMBERS = new Set(['op', 'path', 'from', 'value']);
const NEEDS_FROM = new Set(['move', 'copy']);
const ADDS = new Set(['add', 'move', 'copy']);

/** Applies the operations in order; all or nothing. */
export function applyJsonPatch(target: Json, patch: Json): PatchOutcome {
  const warnings: string[] = [];
  try {
    const operations = operationsOf(patch, warnings);
    const value = operations.reduce<Json>(applyOne, copyOf(target));
    return { kind: 'patched', value, warnings };
  } catch (error) {
    if (!(error instanceof PatchError)) throw error;
    return { kind: error.kind, message: error.message };
  }
}

/** The whole patch is read before any of it is applied. */
function operationsOf(patch: Json, warnings: string[]): readonly JsonObject[] {
  if (!isList(patch)) throw malformed('the patch is not an array of operations');
  return patch.map((operation, index) => {
    if (operation === null) return {};
    if (!isJsonObject(operation)) throw malformed('an operation is not an object');
    for (const [member, value] of Object.entries(operation)) {
      const isText = value === null || typeof value === 'string';
      if (!MEMBERS.has(member)) {
        warnings.push(`json patch unknown field "[${String(index)}].${member}"`);
      } else if (member !== 'value' && !isText) throw malformed(`${member} is not a string`);
    }
    return operation;
  });
}

interface CheckedOperation {
  readonly op: string;
  /** A pointer that the library understands. */
  readonly path: string;
  readonly from?: string;
  readonly value: Json;
}

function applyOne(document: Json, given: JsonObject): Json {
  if (given.op === 'replace' && given.path === '' && isJsonObject(given.value)) {
    return copyOf(given.value);
  }
  const operation = checkedOperation(given);
  const { op, path, from } = operation;
  const place = locate(document, path);
  const isMissing = isMissingMember(place);
  if (op === 'test' && operation.value === null && isMissing) return document;
  if (from !== undefined) requireMember(locate(document, from), op);
  const plain = op === 'replace' && isMissing ? { ...operation, op: 'add' } : operation;
  if (ADDS.has(plain.op)) requireRoom(place, op);
  else if (op !== 'test') requireMember(place, op);
  applyPlain(document, plain);
  return document;
}

function applyPlain(document: Json, operation: CheckedOperation): void {
  const [error] = applyPatch(document, [operation as Operation]); // its op is one of the six
  if (error === null || error === undefined) return;
  throw inapplicable(`${operation.op} operation: ${error.name}`);
}

function checkedOperation({ op, path, from, value }: JsonObject): CheckedOperation {
  if (typeof op !== 'string' || !OPERATIONS.has(op)) throw inapplicable('unexpected operation');
  if (typeof path !== 'string') throw inapplicable(`${op} operation: path is missing`);
  // An absent value is a null.
  const base = { op, path: pointerOf(path, op), value: value === undefined ? null : copyOf(value) };
  if (!NEEDS_FROM.has(op)) return base;
  if (typeof from !== 'string') throw inapplicable(`${op} operation: from is missing`);
  return { ...base, from: pointerOf(from, op) };
}

interface Place {
  readonly parent: Json | undefined;
  readonly key: string;
}

/** A pointer as the real library reads it: what is before the first slash counts for nothing. */
function pointerOf(path: string, op: string): string {
  if (path === '' && op === 'test') return '';
  const slash = path.indexOf('/');
  if (slash === -1) throw inapplicable(`${op} operation: no such path`);
  return path.slice(slash);
}

function locate(document: Json, pointer: string): Place {
  if (pointer === '') return { parent: { '': document }, key: '' };
  const tokens = pointer
    .slice(1)
    .split('/')
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
  const key = tokens.pop() ?? '';
  let parent: Json | undefined = document;
  for (const token of tokens) {
    if (isJsonObject(parent)) parent = Object.hasOwn(parent, token) ? parent[token] : undefined;
    else parent = isList(parent) ? parent[indexOf(token)] : undefined;
  }
  return { parent, key };
}

function isMissingMember({ parent, key }: Place): boolean {
  return isJsonObject(parent) && !Object.hasOwn(parent, key);
}

function requireMember({ parent, key }: Place, op: string): void {
  const isThere = isList(parent)
    ? indexOf(key) < parent.length
    : isJsonObject(parent) && Object.hasOwn(parent, key);
  if (!isThere) throw inapplicable(`${op} operation: no such member`);
}

function requireRoom({ parent, key }: Place, op: string): void {
  const hasRoom = isList(parent)
    ? key === '-' || indexOf(key) <= parent.length
    : isJsonObject(parent);
  if (!hasRoom) throw inapplicable(`${op} operation: the parent does not exist`);
}

/** Infinity for what is no index. */
function indexOf(token: string): number {
  return /^(0|[1-9]\d*)$/.test(token) ? Number(token) : Infinity;
}

function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

function copyOf(value: Json): Json {
  if (isList(value)) return value.map(copyOf);
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value).filter(
    (entry): entry is [string, Json] => entry[1] !== undefined,
  );
  return Object.fromEntries(members.map(([key, member]) => [key, copyOf(member)]));
}

function malformed(message: string): PatchError {
  return new PatchError('malformed', `error decoding patch: ${message}`);
}

function inapplicable(message: string): PatchError {
  return new PatchError('inapplicable', message);
}
