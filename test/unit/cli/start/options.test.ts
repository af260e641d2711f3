/** The command line of `npm start`. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CommandError, EXIT } from '../../../../src/cli/exit-codes.ts';
import { parseStartOptions } from '../../../../src/cli/start/options.ts';

describe('npm start', () => {
  it('without a kubeconfig says what to pass, and leaves with 2', () => {
    assert.throws(
      () => parseStartOptions([]),
      (error) =>
        error instanceof CommandError &&
        error.exitCode === EXIT.usage &&
        error.remedy.includes('--kubeconfig'),
    );
  });

  it('observes by default', () => {
    const parsed = parseStartOptions(['--kubeconfig', 'file']);
    assert.equal(parsed.kind, 'run');
    assert.equal(parsed.kind === 'run' && parsed.options.mode, 'observe');
  });

  it('takes every option', () => {
    const parsed = parseStartOptions(
      '--kubeconfig file --context c --mode takeover --data dir --exit-when-settled --settle-timeout 5 --json'.split(
        ' ',
      ),
    );
    assert.deepEqual(parsed, {
      kind: 'run',
      options: {
        kubeconfig: 'file',
        context: 'c',
        mode: 'takeover',
        dataDir: 'dir',
        shouldExitWhenSettled: true,
        settleTimeoutMs: 5000,
        isJson: true,
        isVerbose: false,
      },
    });
  });

  for (const argv of [['--mode', 'copilot'], ['--settle-timeout', '0'], ['--unknown'], ['extra']]) {
    it(`refuses ${argv.join(' ')} with 2`, (context) => {
      context.mock.method(process.stderr, 'write', () => true);
      const parsed = parseStartOptions(['--kubeconfig', 'file', ...argv]);
      assert.deepEqual(parsed, { kind: 'done', exitCode: EXIT.usage });
    });
  }
});
