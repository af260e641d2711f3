/**
 * Two installations and one real cluster whose built-in loop is off: one manages it, the other one only looks (ADR 0024,
 * protocol 14). The first is never disturbed; killed and started again it has its Lease back at once; the second takes it
 * when it is told to, and gives it back by ending.
 */
import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { startReaper } from '../../../scripts/lib/reaper.ts';
import { TOOLS, skipWithoutTools } from '../../support/require-tool.ts';
import { createNodes, fakeNode } from '../control-plane/nodes.ts';
import { pollUntil } from '../control-plane/poll.ts';
import { daemonSetPath, podPath, testDaemonSet } from '../scenarios/daemon-set.ts';
import { daemonSetUid, expectPodsOn, livePodsByNode } from '../scenarios/expectations.ts';
import { openBareStage, type BareStage } from '../scenarios/stage.ts';

const MAIN = new URL('../../../src/cli/main.ts', import.meta.url).pathname;
const LEASE = '/apis/coordination.k8s.io/v1/namespaces/rollcall-system/leases/rollcall-watcher';
const DEADLINE_MS = 180_000;
const DURATION_MS = 40_000;
/** From the kill: who waited for the Lease's end would have it 30 s later at the earliest, as it was renewed at most 12 s before. */
const BACK_MS_MAX = 25_000;
const NAME = 'agent';

interface Lease {
  readonly holder: string;
  readonly installation: string | undefined;
}

interface Run {
  readonly child: ChildProcess;
  readonly output: () => string;
  readonly ended: Promise<number | null>;
}

describe('two installations of Rollcall', { skip: skipWithoutTools([TOOLS.go]) }, () => {
  const nodes = ['plain-1', 'plain-2', 'plain-3'];
  const directory = mkdtempSync(path.join(tmpdir(), 'rollcall-two-'));
  const reaper = startReaper();
  let stage: BareStage;
  let managing: Run;
  const runs: Run[] = [];
  let uid = '';

  const start = (...options: readonly string[]): Run => {
    const { kubeconfigPath } = stage.cluster.access;
    const child = spawn(process.execPath, [MAIN, '--kubeconfig', kubeconfigPath, ...options], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    if (child.pid !== undefined) reaper.add(child.pid);
    let text = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        text += chunk.toString();
      });
    }
    const ended = once(child, 'exit').then(([code]) => code as number | null);
    const run = { child, output: () => text, ended };
    runs.push(run);
    return run;
  };
  const manage = (): Run => start('--mode', 'takeover', '--data', path.join(directory, 'data'));
  const lease = async (): Promise<Lease> => {
    const { metadata, spec } = await stage.admin.get(LEASE);
    const { holderIdentity = '' } = spec as { readonly holderIdentity?: string };
    const installation = metadata.annotations?.['rollcall.dev/installation'];
    return { holder: holderIdentity, installation };
  };
  const until = (description: string, isTrue: () => Promise<boolean>): Promise<true> =>
    pollUntil({ deadlineMs: DEADLINE_MS, description }, async () =>
      (await isTrue()) ? true : undefined,
    );
  const replacesAPod = async (): Promise<void> => {
    const [pods = []] = [...livePodsByNode(stage.observer, uid).values()];
    const [victim] = pods;
    assert.ok(victim !== undefined);
    await stage.admin.delete(podPath(victim));
    await stage.observer.waitUntil(
      (it) => ![...livePodsByNode(it, uid).values()].flat().some((pod) => pod.uid === victim.uid),
      { deadlineMs: DEADLINE_MS, description: 'the deleted pod is gone' },
    );
    await expectPodsOn(stage, uid, nodes);
  };
  const join = async (name: string): Promise<void> => {
    await createNodes(stage.admin, [fakeNode({ name })]);
    nodes.push(name);
    await expectPodsOn(stage, uid, nodes);
  };
  const rollTo = async (image: string): Promise<void> => {
    await stage.admin.request({
      method: 'PATCH',
      path: daemonSetPath({ name: NAME }),
      contentType: 'application/strategic-merge-patch+json',
      body: { spec: { template: { spec: { containers: [{ name: 'agent', image }] } } } },
    });
    await until(`every node runs ${image}`, async () => {
      const { status } = await stage.admin.get(daemonSetPath({ name: NAME }));
      const { updatedNumberScheduled = 0, observedGeneration = 0 } = status as Record<
        string,
        number
      >;
      return observedGeneration > 1 && updatedNumberScheduled === nodes.length;
    });
  };

  before(async () => {
    stage = await openBareStage({
      name: 'two-installations',
      backend: 'real',
      nodes: nodes.map((name) => fakeNode({ name })),
    });
    await stage.admin.post(daemonSetPath({}), testDaemonSet({ name: NAME }));
    uid = await daemonSetUid(stage, { namespace: 'default', name: NAME });
    managing = manage();
    await expectPodsOn(stage, uid, { nodes, deadlineMs: DEADLINE_MS });
  });

  after(async () => {
    // Also after a failure: one that goes on running holds this process.
    for (const { child } of runs) child.kill('SIGINT');
    await Promise.all(runs.map(({ ended }) => ended));
    await (stage as BareStage | undefined)?.close();
    rmSync(directory, { recursive: true });
  });

  it('the one that only looks is refused with 3, says who holds the Lease since when, and disturbs nothing', async () => {
    const held = await lease();
    assert.match(held.installation ?? '', /^start\//);
    const looking = start('--json');
    await Promise.all([replacesAPod(), join('joined-1')]);
    await rollTo('registry.example/agent:2');
    assert.equal(await looking.ended, 3, looking.output());
    const text = looking.output();
    assert.ok(text.includes(held.installation ?? '?'), text);
    assert.match(text, /since 20\d\d-.*renewed it at 20\d\d-.*free at 20\d\d-/s);
    assert.match(text, /--take-lease/);
    assert.deepEqual(await lease(), held, 'not one epoch was lost');
  });

  it('the one that was killed has its Lease back at once, and goes on', async (context) => {
    const held = await lease();
    const killedMs = performance.now();
    managing.child.kill('SIGKILL');
    await managing.ended;
    managing = manage();
    await until('the Lease has another holder', async () => (await lease()).holder !== held.holder);
    const backMs = Math.round(performance.now() - killedMs);
    context.diagnostic(`the Lease was taken ${String(backMs)} ms after the kill`);
    assert.equal((await lease()).installation, held.installation);
    assert.ok(backMs < BACK_MS_MAX, `${String(backMs)} ms`);
    await replacesAPod();
  });

  it('with --take-lease the other one stands by, says so, and goes on when that process ends', async () => {
    const held = await lease();
    const taking = start('--take-lease');
    await until('it is taken', async () => (await lease()).installation !== held.installation);
    await until('its table says so', () =>
      Promise.resolve(/stands by since .*, as start\/\S+ holds its Lease/.test(managing.output())),
    );
    taking.child.kill('SIGINT');
    assert.equal(await taking.ended, 0, taking.output());
    const endedMs = performance.now();
    await until('it is back', async () => (await lease()).installation === held.installation);
    assert.ok(performance.now() - endedMs < DURATION_MS + 15_000);
    await replacesAPod();
    await join('joined-2');
  });
});
