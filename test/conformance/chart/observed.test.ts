/**
 * From a chart to a first status: it is installed on a real control plane in observe, its watcher runs with what the chart
 * gives it (ConfigMap, Secret, service account), and `rollcall status` shows the cluster.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { bundleWatcher } from '../../../scripts/build/watcher-bundle.ts';
import { startReaper } from '../../../scripts/lib/reaper.ts';
import { skipWithoutTools, TOOLS } from '../../support/require-tool.ts';
import { pollUntil } from '../control-plane/poll.ts';
import { repositoryPath } from '../scenarios/repository.ts';
import { CHART, LEAST_VALUES, type ChartValues } from './helm.ts';
import { ALL_WELL, openObserved, type Observed, type ObservingStack } from './observed.ts';

const SHOWN_MS_MAX = 120_000;
const skip = skipWithoutTools([TOOLS.go]);

describe('a cluster into which the chart was installed', { skip, timeout: 900_000 }, () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'rollcall-observed-'));
  const bundle = path.join(directory, 'watcher.mjs');
  const reaper = startReaper();
  let observed: Observed;
  let stack: ObservingStack;

  const release = async (values: ChartValues): Promise<void> => {
    const command = ['upgrade', '--install', 'rollcall', CHART, '--namespace', 'kube-system'];
    await observed.helm.succeed(command, values);
  };

  before(async () => {
    await bundleWatcher(repositoryPath(''), bundle);
    observed = await openObserved();
    await release(LEAST_VALUES);
    stack = await observed.startStack();
  });
  after(async () => {
    await reaper.close();
    await observed.close();
    rmSync(directory, { recursive: true });
  });

  it('is shown by rollcall status, with its DaemonSet', async () => {
    const { status } = stack;
    await observed.kubectl.succeed(['apply', '-f', repositoryPath('examples/log-collector.yaml')]);
    assert.doesNotMatch(await status(), /1 of 1 clusters/);
    await release(await stack.values());
    await stack.giveKeys();
    const watcher = spawn(process.execPath, [bundle], {
      env: await stack.environmentOfPod(directory),
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    if (watcher.pid !== undefined) reaper.add(watcher.pid);
    let said = '';
    watcher.stderr.on('data', (chunk: Buffer) => {
      said += chunk.toString();
    });
    await pollUntil({ deadlineMs: SHOWN_MS_MAX, description: 'the status' }, async () => {
      assert.equal(await status(), ALL_WELL, said.slice(-2000));
      return true;
    });
  });
});
