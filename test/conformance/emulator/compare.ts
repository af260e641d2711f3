/**
 * Differences between two masked answers, each at a path, grouped into classes that the published list can name.
 */
import { canonicalJson, isJsonObject, type Json, type JsonObject } from '@rollcall/base/json.ts';
import type { Step } from './step.ts';

export interface Difference {
  readonly step: Step;
  /** `status`, `body.spec.containers[].name`: indices and other numbers are left out, see `example`. */
  readonly field: string;
  /** Where exactly, and the two values. */
  readonly example: { readonly path: string; readonly left: Json; readonly right: Json };
}

const DIFFERENCES_MAX = 40;

/** Compares two masked answers; a different status code is then the only difference. */
export function compareAnswers(step: Step, left: Json, right: Json): Difference[] {
  const found: Difference[] = [];
  if (isJsonObject(left) && isJsonObject(right) && left['status'] !== right['status']) {
    return [
      describe(step, 'status', { left: left['status'] ?? null, right: right['status'] ?? null }),
    ];
  }
  walk({ path: '', left, right }, (path, pair) => {
    if (found.length < DIFFERENCES_MAX) found.push(describe(step, path, pair));
  });
  return found;
}

/** By what the published list names it: verb × resource × field. */
export function classOf(difference: Difference): string {
  const { step, field } = difference;
  return `${step.verb} × ${step.resource === '' ? '-' : step.resource} × ${field}`;
}

interface Pair {
  readonly left: Json;
  readonly right: Json;
}

function describe(step: Step, path: string, { left, right }: Pair): Difference {
  return {
    step,
    field: path.replaceAll(/\[\d+\]/g, '[]'),
    example: { path, left, right },
  };
}

function walk(
  place: Pair & { readonly path: string },
  report: (path: string, pair: Pair) => void,
): void {
  const { path, left, right } = place;
  if (Array.isArray(left) && Array.isArray(right) && left.length === right.length) {
    left.forEach((item: Json, index) => {
      walk(
        {
          path: `${path}[${index}]`,
          left: item,
          right: (right[index] as Json | undefined) ?? null,
        },
        report,
      );
    });
    return;
  }
  if (isJsonObject(left) && isJsonObject(right)) {
    for (const key of new Set([...Object.keys(left), ...Object.keys(right)])) {
      const values = { left: memberOf(left, key), right: memberOf(right, key) };
      walk({ path: path === '' ? key : `${path}.${key}`, ...values }, report);
    }
    return;
  }
  if (canonicalJson(left) !== canonicalJson(right)) report(path, { left, right });
}

/** An absent member and an explicit null are two things. */
function memberOf(object: JsonObject, key: string): Json {
  const member = object[key];
  return member === undefined ? '<absent>' : member;
}
