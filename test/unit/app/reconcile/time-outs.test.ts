/** The numbers that safety counts on (protocol 4, 5) are those that the deployed functions keep (A.6). */
import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { describe, it } from 'node:test';
import { readYamlFile } from '@rollcall/local-aws/template/yaml-file.ts';
import { defaultReconcileOptions } from '../../../../src/app/reconcile/process/dependencies.ts';
import {
  FUNCTION_MAX_MS,
  REQUEST_TIMEOUT_MS,
  RUN_MAX_MS,
} from '../../../../src/core/pod/request-life.ts';

const SERVICE = fileURLToPath(new URL('../../../../serverless.yml', import.meta.url));

/** Milliseconds, by the function. */
function timeOuts(): ReadonlyMap<string, number> {
  const { functions } = readYamlFile(SERVICE) as {
    readonly functions: Readonly<Record<string, { readonly timeout?: number }>>;
  };
  return new Map(
    Object.entries(functions).map(([name, { timeout }]) => [name, Number(timeout) * 1000]),
  );
}

describe('the numbers that safety counts on', () => {
  it('are those that are kept: one time-out, and the time-out of the function', () => {
    assert.equal(defaultReconcileOptions.requestTimeoutMs, REQUEST_TIMEOUT_MS);
    assert.equal(timeOuts().get('reconcile'), RUN_MAX_MS);
  });

  it('outlast every function, so that what a move or a hand-back calls silent is', () => {
    const durations = [...timeOuts().values()];
    assert.ok(durations.length > 5);
    assert.equal(Math.max(...durations), FUNCTION_MAX_MS);
  });
});
