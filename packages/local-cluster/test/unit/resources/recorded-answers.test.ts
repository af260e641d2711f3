/**
 * The rules of each resource against answers that a real kube-apiserver 1.36.3 gave to the same requests.
 *
 * Each file in recorded/ holds a base object and, line by line, one change to it, the status of the answer, the causes of
 * a refusal (kind and field) and for some accepted requests the object. A line with a `base` begins anew with that one.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Json, JsonObject } from '@rollcall/base/json.ts';
import { isJsonObject } from '@rollcall/base/json.ts';
import type { Resource } from '../../../src/resources/shared/resource.ts';
import {
  acceptedByRules,
  causesOf,
  createByRules,
  resourceNamed,
  updateByRules,
  withPath,
} from '../../support/resource-rules.ts';
import type { RuleOutcome } from '../../support/resource-rules.ts';

interface RecordedCase {
  readonly base: JsonObject;
  readonly set: string;
  readonly to?: Json;
  readonly status: number;
  readonly causes?: readonly string[];
  readonly object?: JsonObject;
}

const DIRECTORY = join(import.meta.dirname, 'recorded');
const STATUS_OF = { accepted: [200, 201], invalid: [422], refused: [403] } as const;

for (const file of readdirSync(DIRECTORY).sort()) {
  const [plural = '', verb = '', view] = file.replace('.jsonl', '').split('-');
  const cases = readRecording(file);
  test(`${plural}: ${verb}${view === undefined ? '' : ` through ${view}`} is answered as 1.36.3 does`, () => {
    const resource = resourceNamed(plural);
    assert.ok(cases.length > 1);
    for (const recorded of cases) {
      const outcome = run({
        resource,
        recorded,
        verb,
        ...(view === undefined ? {} : { view }),
      });
      compare(outcome, recorded);
    }
  });
}

function readRecording(file: string): readonly RecordedCase[] {
  const lines = readFileSync(join(DIRECTORY, file), 'utf8').trim().split('\n');
  let base: JsonObject = {};
  return lines.flatMap((line) => {
    // Files of this repository, in the form said above.
    const parsed = JSON.parse(line) as { readonly base: JsonObject } | Omit<RecordedCase, 'base'>;
    if (!('base' in parsed)) return [{ ...parsed, base }];
    ({ base } = parsed);
    return [];
  });
}

function run(input: {
  readonly resource: Resource;
  readonly recorded: RecordedCase;
  readonly verb: string;
  readonly view?: string;
}): RuleOutcome {
  const { resource, recorded, verb, view } = input;
  const { base } = recorded;
  if (verb === 'create') {
    return createByRules(resource, withPath(base, recorded.set, recorded.to));
  }
  const current = acceptedByRules(resource, base);
  const next = withPath(current, recorded.set, recorded.to);
  return updateByRules(resource, { next, current, ...(view === undefined ? {} : { view }) });
}

function compare(outcome: RuleOutcome, recorded: RecordedCase): void {
  const label = JSON.stringify({ ...recorded, base: undefined, object: undefined });
  const statuses: readonly number[] = STATUS_OF[outcome.kind];
  assert.ok(statuses.includes(recorded.status), `${label}\n${JSON.stringify(outcome)}`);
  if (outcome.kind === 'invalid') {
    assert.deepEqual(causesOf(outcome.errors), recorded.causes, label);
  }
  if (outcome.kind === 'accepted' && recorded.object !== undefined) {
    const { apiVersion: _apiVersion, kind: _kind, ...object } = outcome.object;
    assert.deepEqual(masked(object), masked(recorded.object), label);
  }
}

/** Without what differs from one server to the next: ids, times, random names. */
function masked(value: Json | undefined): Json | undefined {
  if (typeof value === 'string') return value.replace(/^kube-api-access-.*/, 'kube-api-access-X');
  if (Array.isArray(value)) return value.map((item: Json) => masked(item) ?? null);
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value).filter(
    ([key, member]) => member !== undefined && !VOLATILE.has(key),
  );
  return Object.fromEntries(members.map(([key, member]) => [key, masked(member)]));
}

const VOLATILE: ReadonlySet<string> = new Set([
  'uid',
  'resourceVersion',
  'creationTimestamp',
  'deletionTimestamp',
  'generateName',
  'lastTransitionTime',
]);
