/**
 * What a new user does, timed: a clone, the image by the line of docs/install.md, the chart by its lines and its file of values
 * on a real control plane in observe, and `rollcall status` that shows the cluster. Ten minutes are the goal.
 *
 * The stack is there, as the engine on this machine; the image is started from its layout by runc, since there is neither a
 * registry nor a kubelet that runs containers. What is changed of the page's values is where the queue and its keys are.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { parse } from 'yaml';
import { runTool } from '../../../scripts/lib/run-tool.ts';
import { skipWithoutTools, TOOLS } from '../../support/require-tool.ts';
import { pollUntil } from '../control-plane/poll.ts';
import { repositoryPath } from '../scenarios/repository.ts';
import { shippedSecurity, startContainer, type Container } from '../watcher-image/container.ts';
import { asRoot } from '../watcher-image/image.ts';
import { readLayout } from '../watcher-image/layout.ts';
import type { ChartValues } from './helm.ts';
import { ALL_WELL, openObserved, type Observed, type ObservingStack } from './observed.ts';

const GOAL_MS = 600_000;
const PAGE = readFileSync(repositoryPath('docs/install.md'), 'utf8');
const ARCHITECTURE = process.arch === 'arm64' ? 'arm64' : 'amd64';

/** The one line of the page that begins so. */
function lineOf(beginning: string): string {
  const lines = PAGE.split('\n').filter((line) => line.startsWith(beginning));
  assert.equal(lines.length, 1, beginning);
  return lines[0] ?? '';
}

const skip = skipWithoutTools([TOOLS.go, TOOLS.apt, TOOLS.buildah, TOOLS.runc]);

describe('a new user', { skip, timeout: 1_800_000 }, () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'rollcall-new-user-'));
  const clone = path.join(directory, 'rollcall');
  let observed: Observed;
  let stack: ObservingStack;
  let container: Container | undefined;

  before(async () => {
    observed = await openObserved();
    const example = repositoryPath('examples/log-collector.yaml');
    await observed.kubectl.succeed(['apply', '-f', example]);
  });
  after(async () => {
    container?.stop();
    await observed.close();
    rmSync(directory, { recursive: true });
  });

  const run = async (command: string): Promise<void> => {
    const parameters = ['-c', command];
    const result = await runTool({ program: 'sh', parameters, directory: clone });
    assert.equal(result.exitCode, 0, `${command}: ${result.stdout}${result.stderr}`);
  };

  it('has a cluster in `rollcall status` within ten minutes', async (context) => {
    const startMs = performance.now();
    const lap = (what: string): void => {
      context.diagnostic(`${((performance.now() - startMs) / 1000).toFixed(0)} s: ${what}`);
    };
    execFileSync('git', ['clone', '--quiet', repositoryPath(''), clone]);
    lap('cloned');
    await run(lineOf('npm run build:image'));
    lap('the image is built, with all that it needs installed');
    const [, file = ''] = /```yaml\n(cluster: prod-1\n[^]*?)```/.exec(PAGE) ?? [];
    const values = parse(file) as ChartValues;
    const words = lineOf('helm upgrade --install').split(' ').slice(1);
    const command = words
      .slice(0, words.indexOf('--values'))
      .map((word) => (word === 'infra' ? path.join(clone, word) : word));
    await observed.helm.succeed(command, values);
    lap('the chart is installed');
    stack = await observed.startStack();
    await observed.helm.succeed(command, { ...values, ...(await stack.values()) });
    await stack.giveKeys();
    lap('its queue is that of the stack');
    container = await startWatcher();
    await pollUntil({ deadlineMs: GOAL_MS, description: 'the status' }, async () => {
      assert.equal(await stack.status(), ALL_WELL, container?.log());
      return true;
    });
    lap('rollcall status shows the cluster');
    assert.ok(performance.now() - startMs <= GOAL_MS);
  });

  async function startWatcher(): Promise<Container> {
    const image = readLayout(path.join(clone, 'dist/image')).find(
      ({ architecture }) => architecture === ARCHITECTURE,
    );
    assert.ok(image !== undefined);
    const root = path.join(directory, 'root');
    image.unpack(root);
    const files = path.join(directory, 'files');
    mkdirSync(files);
    for (const mounted of ['proc', files]) mkdirSync(path.join(root, mounted), { recursive: true });
    const environment = await stack.environmentOfPod(files);
    const { runAsUser, runAsGroup } = shippedSecurity();
    asRoot(['chmod', '755', directory]);
    asRoot(['chown', '-R', `${runAsUser}:${runAsGroup}`, files]);
    const { configuration } = image;
    const options = { root, configuration, environment, files, directory };
    return startContainer({ id: `rollcall-new-user-${process.pid}`, ...options });
  }
});
