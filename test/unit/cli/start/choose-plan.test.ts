/** What of the command line is about a fleet, and what contradicts it. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CommandError, EXIT } from '../../../../src/cli/process/exit-codes.ts';
import { parseStartOptions } from '../../../../src/cli/start/options.ts';

function choiceOf(line: string): unknown {
  const parsed = parseStartOptions(line.split(' '));
  assert.ok(parsed.kind === 'run');
  return parsed.options;
}

describe('npm start -- --fleet', () => {
  it('is five small clusters, a good release, and time for it', () => {
    assert.partialDeepStrictEqual(choiceOf('--fleet'), {
      choice: {
        kind: 'local',
        clusterCount: 5,
        nodesPerCluster: 6,
        fleet: { onHalt: 'halt' },
      },
      settleTimeoutMs: 900_000,
    });
  });

  it('takes a failure, and what becomes of it', () => {
    const options = choiceOf('--clusters 12 --fleet --inject kernel --on-halt rollback');
    assert.partialDeepStrictEqual(options, {
      choice: { clusterCount: 12, fleet: { inject: 'kernel', onHalt: 'rollback' } },
    });
    assert.partialDeepStrictEqual(choiceOf('--inject bad-image'), {
      choice: { inject: 'bad-image' },
      settleTimeoutMs: 300_000,
    });
  });

  for (const [line, named] of [
    ['--on-halt halt', '--on-halt'],
    ['--inject kernel', '--inject kernel'],
    ['--fleet --inject flap', '--inject flap'],
    ['--fleet --clusters 1', '--fleet needs 2'],
    ['--fleet --mode observe', '--mode observe'],
    ['--fleet --data d', '--data'],
    ['--fleet --cold', '--cold'],
    ['--fleet --kubeconfig f', '--fleet'],
    ['--on-halt halt --kubeconfig f', '--on-halt'],
  ] as const) {
    it(`refuses ${line}, and names what contradicts it`, () => {
      assert.throws(
        () => parseStartOptions(line.split(' ')),
        (error) =>
          error instanceof CommandError &&
          error.exitCode === EXIT.usage &&
          error.message.includes(named),
      );
    });
  }
});
