/** The command line of `npm start`: what is taken where nothing is said, what contradicts itself, and what is no value. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CommandError, EXIT } from '../../../../src/cli/process/exit-codes.ts';
import { parseStartOptions, type StartOptions } from '../../../../src/cli/start/options.ts';

function optionsOf(line: string): StartOptions {
  const parsed = parseStartOptions(line === '' ? [] : line.split(' '));
  assert.ok(parsed.kind === 'run');
  return parsed.options;
}

describe('npm start', () => {
  it('without options takes over two local clusters', () => {
    const { mode, choice } = optionsOf('');
    assert.equal(mode, 'takeover');
    const defaults = { clusterCount: 2, nodesPerCluster: 12, port: 0, isCold: false };
    assert.deepEqual(choice, { kind: 'local', ...defaults });
  });

  it('takes every option of local clusters', () => {
    const { choice } = optionsOf('--clusters 3 --nodes 40 --port 6443 --cold --inject slow-leak');
    const local = { clusterCount: 3, nodesPerCluster: 40, port: 6443, isCold: true };
    assert.deepEqual(choice, { kind: 'local', ...local, inject: 'slow-leak' });
  });

  it('takes every option of a kubeconfig’s cluster, which it only observes by default', () => {
    assert.equal(optionsOf('--kubeconfig file').mode, 'observe');
    assert.equal(optionsOf('--kubeconfig file --mode copilot').mode, 'copilot');
    assert.equal(optionsOf('--kubeconfig file --release').shouldRelease, true);
    assert.equal(optionsOf('--kubeconfig file --take-lease').shouldTakeLease, true);
    const place = '--kubeconfig file --context c --mode takeover --data dir';
    assert.deepEqual(optionsOf(`${place} --exit-when-settled --settle-timeout 5 --json`), {
      choice: { kind: 'kubeconfig', file: 'file', context: 'c' },
      mode: 'takeover',
      dataDir: 'dir',
      shouldRelease: false,
      shouldTakeLease: false,
      shouldExitWhenSettled: true,
      settleTimeoutMs: 5000,
      isJson: true,
      isVerbose: false,
    });
  });

  it('with --fleet is five small clusters, a good release, and time for it', () => {
    const small = { kind: 'local', clusterCount: 5, nodesPerCluster: 6 } as const;
    const choice = { ...small, fleet: { onHalt: 'halt' } };
    assert.partialDeepStrictEqual(optionsOf('--fleet'), { choice, settleTimeoutMs: 900_000 });
    const line = '--clusters 12 --fleet --inject kernel --on-halt rollback';
    const bad = { clusterCount: 12, fleet: { inject: 'kernel', onHalt: 'rollback' } };
    assert.partialDeepStrictEqual(optionsOf(line), { choice: bad });
  });

  for (const [line, named] of [
    ['--kubeconfig file --inject flap', '--inject'],
    ['--kubeconfig file --nodes 3', '--nodes'],
    ['--kubeconfig file --cold', '--cold'],
    ['--kubeconfig f --release --take-lease', '--release'],
    ['--kubeconfig file --release --mode takeover', '--mode'],
    ['--kubeconfig file --release --exit-when-settled', '--release'],
    ['--inject flap --mode observe', '--mode observe'],
    ['--mode copilot', '--mode copilot'],
    ['--context c', '--context'],
    ['--port 65535', '65535'],
    ['--release', '--release'],
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
    it(`leaves with 2 for ${line}, and names what contradicts it`, () => {
      assert.throws(
        () => optionsOf(line),
        (error) =>
          error instanceof CommandError &&
          error.exitCode === EXIT.usage &&
          error.message.includes(named),
      );
    });
  }

  for (const line of [
    '--clusters 0',
    '--nodes 1.5',
    '--nodes many',
    '--inject good-image',
    '--port 70000',
    '--kubeconfig --release',
    '--data --json',
    '--mode autopilot',
    '--settle-timeout 0',
    '--unknown',
    'extra',
  ]) {
    it(`leaves with 2 for ${line}`, (context) => {
      context.mock.method(process.stderr, 'write', () => true);
      const parsed = parseStartOptions(line.split(' '));
      assert.deepEqual(parsed, { kind: 'done', exitCode: EXIT.usage });
    });
  }
});
