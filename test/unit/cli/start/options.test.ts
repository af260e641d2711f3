/** The command line of `npm start`. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CommandError, EXIT } from '../../../../src/cli/process/exit-codes.ts';
import { parseStartOptions } from '../../../../src/cli/start/options.ts';

describe('npm start', () => {
  it('without options takes over two local clusters', () => {
    const parsed = parseStartOptions([]);
    assert.ok(parsed.kind === 'run');
    assert.equal(parsed.options.mode, 'takeover');
    assert.deepEqual(parsed.options.choice, {
      kind: 'local',
      clusterCount: 2,
      nodesPerCluster: 12,
      port: 0,
      isCold: false,
    });
  });

  it('takes the options of local clusters', () => {
    const parsed = parseStartOptions('--clusters 3 --nodes 40 --port 6443 --cold'.split(' '));
    assert.ok(parsed.kind === 'run');
    assert.deepEqual(parsed.options.choice, {
      kind: 'local',
      clusterCount: 3,
      nodesPerCluster: 40,
      port: 6443,
      isCold: true,
    });
  });

  it('takes a failure to inject into local clusters', () => {
    const parsed = parseStartOptions(['--inject', 'slow-leak']);
    assert.ok(parsed.kind === 'run' && parsed.options.choice.kind === 'local');
    assert.equal(parsed.options.choice.inject, 'slow-leak');
  });

  for (const argv of [
    ['--kubeconfig', 'file', '--inject', 'flap'],
    ['--inject', 'flap', '--mode', 'observe'],
    ['--kubeconfig', 'file', '--nodes', '3'],
    ['--kubeconfig', 'file', '--cold'],
    ['--context', 'c'],
    ['--port', '65535'],
    ['--release'],
    ['--kubeconfig', 'file', '--release', '--mode', 'takeover'],
    ['--kubeconfig', 'file', '--release', '--exit-when-settled'],
  ]) {
    it(`says that ${argv.join(' ')} contradicts itself, with 2`, () => {
      assert.throws(
        () => parseStartOptions(argv),
        (error) => error instanceof CommandError && error.exitCode === EXIT.usage,
      );
    });
  }

  for (const argv of [
    ['--clusters', '0'],
    ['--nodes', '1.5'],
    ['--nodes', 'many'],
    ['--inject', 'good-image'],
    ['--port', '70000'],
    ['--kubeconfig', '--release'],
    ['--data', '--json'],
  ]) {
    it(`refuses ${argv.join(' ')} with 2`, (context) => {
      context.mock.method(process.stderr, 'write', () => true);
      assert.deepEqual(parseStartOptions(argv), { kind: 'done', exitCode: EXIT.usage });
    });
  }

  it('releases the cluster of a kubeconfig', () => {
    const parsed = parseStartOptions(['--kubeconfig', 'file', '--release']);
    assert.ok(parsed.kind === 'run' && parsed.options.shouldRelease);
  });

  it('takes the Lease from another installation only when told to, and never to release', () => {
    const parsed = parseStartOptions(['--kubeconfig', 'file', '--take-lease']);
    assert.equal(parsed.kind === 'run' && parsed.options.shouldTakeLease, true);
    assert.throws(() => parseStartOptions(['--kubeconfig', 'f', '--release', '--take-lease']));
  });

  it('observes the cluster of a kubeconfig by default', () => {
    const parsed = parseStartOptions(['--kubeconfig', 'file']);
    assert.equal(parsed.kind, 'run');
    assert.equal(parsed.kind === 'run' && parsed.options.mode, 'observe');
  });

  it('goes beside the built-in controller of a kubeconfig’s cluster; local clusters have none', () => {
    const parsed = parseStartOptions(['--kubeconfig', 'file', '--mode', 'copilot']);
    assert.equal(parsed.kind === 'run' && parsed.options.mode, 'copilot');
    assert.throws(
      () => parseStartOptions(['--mode', 'copilot']),
      (error) => error instanceof CommandError && error.exitCode === EXIT.usage,
    );
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
        choice: { kind: 'kubeconfig', file: 'file', context: 'c' },
        mode: 'takeover',
        dataDir: 'dir',
        shouldRelease: false,
        shouldTakeLease: false,
        shouldExitWhenSettled: true,
        settleTimeoutMs: 5000,
        isJson: true,
        isVerbose: false,
      },
    });
  });

  for (const argv of [
    ['--mode', 'autopilot'],
    ['--settle-timeout', '0'],
    ['--unknown'],
    ['extra'],
  ]) {
    it(`refuses ${argv.join(' ')} with 2`, (context) => {
      context.mock.method(process.stderr, 'write', () => true);
      const parsed = parseStartOptions(['--kubeconfig', 'file', ...argv]);
      assert.deepEqual(parsed, { kind: 'done', exitCode: EXIT.usage });
    });
  }
});
