/** Which exit code a refusal of the local engine leaves with (docs/reference/cli.md). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { explainError } from '../../../../src/cli/command-line/explain-error.ts';
import { EngineRefusal } from '../../../../src/engine/engine-refusal.ts';

test('what the engine refuses for safety leaves with 3, what it could not do with 1', () => {
  const codes = ['built-in-controller-runs', 'other-cluster', 'still-managed', 'handover-failed'];
  const exits = codes.map((code) => {
    const refusal = { code, message: 'No.', remedy: '' } as ConstructorParameters<
      typeof EngineRefusal
    >[0];
    return explainError(new EngineRefusal(refusal)).exitCode;
  });
  assert.deepEqual(exits, [3, 3, 3, 1]);
});
