/**
 * JSON Patch (RFC 6902), with the two habits of the real server's library: `replace` of a missing member adds it, and an
 * operation that it does not know is a failure to apply, not a malformed patch.
 *
 * Works on a copy, since the library writes in place: rare enough.
 */
import { applyPatch } from 'rfc6902';
import type { Operation } from 'rfc6902';
import { isJsonObject } from '../../../../core/model/json.ts';
import type { Json, JsonObject } from '../../../../core/model/json.ts';
import type { PatchOutcome } from './patch-outcome.ts';

const OPERATIONS = new Set(['add', 'remove', 'replace', 'move', 'copy', 'test']);
const NEEDS_FROM = new Set(['move', 'copy']);
const KNOWN_MEMBERS = new Set(['op', 'path', 'from', 'value']);

/** Applies the operations in order; all or nothing. */
export function applyJsonPatch(target: Json, patch: Json): PatchOutcome {
  if (!isList(patch)) return malformed('the patch is not an array of operations');
  const value = copyOf(target);
  const warnings: string[] = [];
  for (const [index, operation] of patch.entries()) {
    if (!isJsonObject(operation)) return malformed('an operation is not an object');
    const shapeProblem = shapeProblemOf(operation);
    if (shapeProblem !== undefined) return malformed(shapeProblem);
    for (const member of Object.keys(operation)) {
      if (!KNOWN_MEMBERS.has(member)) {
        warnings.push(`json patch unknown field "[${String(index)}].${member}"`);
      }
    }
    const problem = applyOne(value, operation);
    if (problem !== undefined) return { kind: 'inapplicable', message: problem };
  }
  return { kind: 'patched', value, warnings };
}

function applyOne(document: Json, operation: JsonObject): string | undefined {
  const { op, path, from } = operation;
  if (typeof op !== 'string' || !OPERATIONS.has(op)) return `unexpected kind: ${String(op)}`;
  if (typeof path !== 'string' || (path !== '' && !path.startsWith('/'))) {
    return `${op} operation: the path is not a JSON pointer`;
  }
  if (path === '' && op !== 'test') return `${op} operation: the whole document cannot be changed`;
  if (NEEDS_FROM.has(op) && typeof from !== 'string') return `${op} operation: from is missing`;
  const isAdding = op === 'replace' && isMissingMember(document, path);
  const plain = {
    op: isAdding ? 'add' : op,
    path,
    ...(typeof from === 'string' ? { from } : {}),
    ...('value' in operation ? { value: copyOf(operation.value ?? null) } : { value: null }),
  };
  const [error] = applyPatch(document, [plain as Operation]); // its members were checked above
  return error === null || error === undefined ? undefined : `${op} operation: ${error.name}`;
}

function shapeProblemOf(operation: JsonObject): string | undefined {
  for (const member of ['op', 'path', 'from']) {
    const value = operation[member];
    if (value !== undefined && value !== null && typeof value !== 'string') {
      return `${member} is not a string`;
    }
  }
  return undefined;
}

/** The parent exists and is an object without that member. */
function isMissingMember(document: Json, path: string): boolean {
  const tokens = path
    .slice(1)
    .split('/')
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
  const last = tokens.pop() ?? '';
  let parent: Json | undefined = document;
  for (const token of tokens) {
    if (isJsonObject(parent)) parent = parent[token];
    else if (isList(parent)) parent = parent[Number(token)];
    else return false;
  }
  return isJsonObject(parent) && !Object.hasOwn(parent, last);
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

function malformed(message: string): PatchOutcome {
  return { kind: 'malformed', message: `error decoding patch: ${message}` };
}
