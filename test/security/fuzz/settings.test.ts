// Everything that a person or a registry gives: hostile inputs for each reader (rows 65, 67).
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { stringify } from 'yaml';
import { createPolicyReader } from '../../../src/adapters/policy/policy-reader.ts';
import { parseEndpoint } from '../../../src/adapters/kubernetes/egress/endpoint.ts';
import { resultOf } from '../../support/kubeconfig-result.ts';
import { loadKubeconfig } from '../../../src/adapters/kubeconfig/load-kubeconfig.ts';
import { readWatchSettings } from '../../../src/adapters/kubernetes/settings/watch-settings.ts';
import type { RolloutPolicy } from '../../../src/core/policy/rollout-policy.ts';
import { nodesRoundedUp } from '../../../src/core/policy/share.ts';
import { nextOpeningMs } from '../../../src/core/policy/window.ts';
import { CommandError, EXIT } from '../../../src/cli/process/exit-codes.ts';
import { parseStartOptions } from '../../../src/cli/start/options.ts';
import { assertOneLine, fuzz } from '../../support/fuzz/fuzz.ts';
import { bendJson, bendText, garbage } from '../../support/fuzz/hostile-input.ts';
import { VirtualClock } from '@rollcall/base/testing/virtual-clock.ts';

const KUBECONFIG = {
  apiVersion: 'v1',
  kind: 'Config',
  'current-context': 'here',
  contexts: [{ name: 'here', context: { cluster: 'here', user: 'me', namespace: 'x' } }],
  clusters: [
    { name: 'here', cluster: { server: 'https://cluster.example:6443', 'proxy-url': 'http://p' } },
  ],
  users: [
    {
      name: 'me',
      user: {
        token: 'a-token',
        exec: { apiVersion: 'client.authentication.k8s.io/v1', command: 'touch', args: ['/tmp/x'] },
      },
    },
  ],
};

test('row 67: a server address is https without a user, or refused', async () => {
  let accepted = 0;
  const count = await fuzz({
    name: 'parseEndpoint',
    feed: (random) => {
      const parsed = parseEndpoint(bendText('https://cluster.example:6443/prefix', random));
      if (parsed.kind === 'refused') return;
      accepted += 1;
      const { host, port, pathPrefix } = parsed.endpoint;
      assert.match(host, /^[^\s/@?#\\]+$/);
      assert.ok(Number.isInteger(port) && port >= 0 && port <= 65_535);
      assert.match(pathPrefix, /^(\/[^\s?#]*)?$/);
    },
  });
  if (count > 1) assert.ok(accepted > count / 20, `only ${accepted} of ${count} were accepted`);
});

test('rows 65, 67: a kubeconfig is loaded or refused, and no program runs without a runner', async () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'rollcall-fuzz-'));
  try {
    const file = path.join(directory, 'config');
    await fuzz({
      name: 'loadKubeconfig',
      feed: async (random) => {
        const draw = random.next();
        const text =
          draw < 0.5
            ? JSON.stringify(bendJson(KUBECONFIG, random))
            : draw < 0.95
              ? bendText(stringify(KUBECONFIG), random)
              : garbage(random);
        writeFileSync(file, text);
        const result = await resultOf(loadKubeconfig({ path: file, parseServer: parseEndpoint }));
        if (result.kind === 'loaded') assert.match(result.kubeconfig.server, /^https:/);
      },
    });
  } finally {
    rmSync(directory, { recursive: true });
  }
});

test('row 67: a command line is options, or a refusal that says what to do', async (context) => {
  // What commander prints is for people; 2,000 times it is for nobody.
  context.mock.method(process.stderr, 'write', () => true);
  const words = ['--json', '--cold', '--clusters', '2', '--nodes', '5', '--kubeconfig', 'x'];
  await fuzz({
    name: 'parseStartOptions',
    feed: (random) => {
      const argv = words
        .filter(() => random.next() < 0.4)
        .map((word) => (random.next() < 0.3 ? bendText(word, random) : word));
      try {
        const parsed = parseStartOptions(argv);
        if (parsed.kind === 'done') assert.equal(parsed.exitCode, EXIT.usage);
      } catch (error) {
        assert.ok(error instanceof CommandError, String(error));
      }
    },
  });
});

test('row 67: a watcher’s environment is settings or a refusal with a sentence', async () => {
  const clock = new VirtualClock();
  const environment = {
    ROLLCALL_CLUSTER: 'west-1',
    ROLLCALL_EVENTS_QUEUE_URL: 'https://sqs.example/1/events.fifo',
    ROLLCALL_API_SERVER: 'https://cluster.example:6443',
    ROLLCALL_LOG_LEVEL: 'info',
  };
  await fuzz({
    name: 'readWatchSettings',
    feed: (random) => {
      const bent = bendJson(environment, random);
      if (typeof bent !== 'object' || bent === null) return;
      const texts = Object.entries(bent).filter(
        (entry): entry is [string, string] => typeof entry[1] === 'string',
      );
      const result = readWatchSettings(Object.fromEntries(texts), [], clock);
      if (result.kind === 'refused') assert.ok(result.message.length > 0);
    },
  });
});

const POLICY = {
  paused: false,
  maxUnavailable: '20%',
  partition: 3,
  order: [{ label: 'topology.kubernetes.io/zone', values: ['eu-1a'], last: true }],
  canary: { nodes: '5%', spread: ['kubernetes.io/arch'] },
  soak: '1h30m',
  approval: 'after-canary',
  progressDeadline: '2h',
  window: [{ days: ['mon-fri'], from: '22:00', to: '04:00', timeZone: 'Europe/Berlin' }],
  onHalt: 'rollback',
  exclude: { matchExpressions: [{ key: 'pool', operator: 'In', values: ['pinned'] }] },
  budget: 'attributed',
  removalGuard: '35%',
};

function assertBounds({ canary, soakMs, windows, removalPercent }: RolloutPolicy): void {
  const nowMs = Date.parse('2026-11-25T10:00Z');
  if (canary.kind === 'share') assert.ok(nodesRoundedUp(canary.share, 3) >= 1);
  assert.ok(Number.isInteger(soakMs) && soakMs >= 0 && soakMs <= 720 * 3_600_000);
  assert.ok(Number.isInteger(removalPercent) && removalPercent >= 1 && removalPercent <= 100);
  assert.ok((nextOpeningMs(windows, nowMs) ?? nowMs) >= nowMs);
}

test('row 67: the annotation of a policy is one whose every bound holds, or problems of one line each', async () => {
  const reader = createPolicyReader();
  let accepted = 0;
  const count = await fuzz({
    name: 'createPolicyReader',
    feed: (random) => {
      const draw = random.next();
      const text =
        draw < 0.5
          ? JSON.stringify(bendJson(POLICY, random))
          : draw < 0.95
            ? bendText(stringify(POLICY), random)
            : garbage(random);
      const reading = reader.read(text);
      if (reading.kind === 'none') assert.equal(text.trim(), '');
      if (reading.kind === 'invalid') {
        assert.ok(reading.problems.length <= 11);
        for (const { field, message } of reading.problems) assertOneLine(field + message);
      }
      if (reading.kind !== 'policy') return;
      accepted += 1;
      assertBounds(reading.policy);
    },
  });
  if (count > 1) assert.ok(accepted > count / 20, `only ${accepted} of ${count} were accepted`);
});
