/**
 * A release of the chart lives on a real control plane, and at night on a local cluster: installed from an earlier chart, upgraded to
 * this one, moved from mode to mode, and uninstalled. Nothing that it made is left.
 *
 * Earlier charts are two: that of the repository before the last commit that changed it, and this one with another version,
 * another image and one object that is no more.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, it } from 'node:test';
import packageJson from '../../../package.json' with { type: 'json' };
import { createApiClient, type KubernetesObject } from '../control-plane/api.ts';
import { ensureBinaries } from '../control-plane/build.ts';
import { createNodes, fakeNode } from '../control-plane/nodes.ts';
import { pollUntil } from '../control-plane/poll.ts';
import type { TestCluster } from '../control-plane/test-cluster.ts';
import { bindKubectl, type Kubectl } from '../kubectl/kubectl.ts';
import { describeOnBackend, openBackend } from '../scenarios/backends.ts';
import { repositoryPath } from '../scenarios/repository.ts';
import { CHART, LEAST_VALUES, openHelm, type ChartValues, type Helm } from './helm.ts';

const EARLIER_VERSION = '0.0.9';
const EARLIER_IMAGE = 'registry.example.com/rollcall-watcher:0.0.9';
const FORMER = `apiVersion: v1
kind: ConfigMap
metadata: { name: rollcall-former, namespace: rollcall-system }
`;
/** Objects that clusters make and forget by themselves. */
const COMING_AND_GOING = ['Event', 'Lease'];
/** The namespace goes last: who deletes what is in it looks every few seconds. */
const GONE_MS_MAX = 120_000;

const HOW = { timeout: 900_000, usesKubectl: true } as const;

describeOnBackend('a release of the chart', HOW, (backend) => {
  const directory = mkdtempSync(path.join(tmpdir(), 'rollcall-chart-'));
  let cluster: TestCluster;
  let helm: Helm;
  let kubectl: Kubectl;
  let atFirst: readonly string[];

  before(async () => {
    cluster = await openBackend(backend, 'chart');
    const { kubeconfigPath } = cluster.access;
    const admin = createApiClient(cluster.access.connectionOf('admin'));
    await createNodes(admin, [fakeNode({ name: 'worker-1', registersReady: true })]);
    admin.close();
    helm = await openHelm(kubeconfigPath);
    kubectl = bindKubectl({
      program: (await ensureBinaries()).kubectl,
      kubeconfigPath,
      cacheDirectory: path.join(directory, 'cache'),
    });
    // What a control plane makes of itself is there when its root certificate is.
    await pollUntil({ deadlineMs: GONE_MS_MAX, description: 'kube-root-ca.crt' }, async () =>
      (await kubectl.run('-n kube-system get configmap kube-root-ca.crt')).code === 0
        ? true
        : undefined,
    );
    atFirst = await everything(kubectl);
  });
  after(async () => {
    helm.remove();
    await cluster.close();
    rmSync(directory, { recursive: true });
  });

  const release = (...command: readonly string[]): readonly string[] => [
    ...command,
    ...['--namespace', 'kube-system'],
  ];
  const upgrade = (values: ChartValues): Promise<string> =>
    helm.succeed(release('upgrade', 'rollcall', CHART), { ...LEAST_VALUES, ...values });
  const policies = async (): Promise<readonly string[]> =>
    (await everything(kubectl)).filter((name) => name.startsWith('ValidatingAdmissionPolicy '));

  const gone = async (): Promise<void> => {
    const description = 'what is there is what was there at first';
    await pollUntil({ deadlineMs: GONE_MS_MAX, description }, async () => {
      assert.deepEqual(await everything(kubectl), atFirst);
      return true;
    });
  };

  it('upgrades from the chart before its last change', async (context) => {
    const before = committedChart(path.join(directory, 'committed'));
    if (before.kind === 'none') {
      context.skip(before.reason); // a clone without history has no chart before
      return;
    }
    const values = { ...LEAST_VALUES, mode: 'takeover', auth: 'eks', image: EARLIER_IMAGE };
    await helm.succeed(release('install', 'rollcall', before.chart), values);
    assert.equal(await imageOf(kubectl), EARLIER_IMAGE);
    await upgrade({ mode: 'takeover', auth: 'eks' });
    assert.equal(await imageOf(kubectl), LEAST_VALUES.image);
    await helm.succeed(release('uninstall', 'rollcall'));
    await gone();
  });

  it('installs an earlier chart', async () => {
    const values = { ...LEAST_VALUES, image: EARLIER_IMAGE };
    await helm.succeed(release('install', 'rollcall', earlierChart(directory)), values);
    assert.equal(await imageOf(kubectl), EARLIER_IMAGE);
    assert.match(await helm.succeed(release('list')), /rollcall-0\.0\.9\s+0\.0\.9/);
    assert.deepEqual(await policies(), []);
  });

  // A local cluster has no loop for Deployments.
  if (backend === 'real') {
    it('runs the watcher’s pod', async () => {
      await kubectl.succeed(
        '-n rollcall-system rollout status deployment rollcall-watcher --timeout=120s',
      );
    });
  }

  it('upgrades to this one, and takes away what is no more', async () => {
    await upgrade({});
    assert.equal(await imageOf(kubectl), LEAST_VALUES.image);
    const { version } = packageJson;
    assert.ok((await helm.succeed(release('list'))).includes(`rollcall-${version}`));
    assert.ok(!(await everything(kubectl)).includes('ConfigMap rollcall-system/rollcall-former'));
  });

  it('goes from mode to mode, with the policies of one mode at a time', async () => {
    await upgrade({ mode: 'copilot', auth: 'eks', copilot: { daemonSets: ['a/b'] } });
    const copilot = await policies();
    assert.ok(copilot.includes('ValidatingAdmissionPolicy /rollcall-copilot-listed'));
    await upgrade({ mode: 'takeover', auth: 'eks', mirror: { enabled: true } });
    const takeover = await policies();
    assert.ok(takeover.includes('ValidatingAdmissionPolicy /rollcall-pods'));
    assert.ok(!takeover.some((name) => name.includes('copilot')));
  });

  it('goes back to the earlier revision', async () => {
    await helm.succeed(release('rollback', 'rollcall', '1'));
    assert.equal(await imageOf(kubectl), EARLIER_IMAGE);
    assert.deepEqual(await policies(), []);
  });

  it('uninstalls, and leaves nothing', async () => {
    await upgrade({ mode: 'takeover', auth: 'eks', mirror: { enabled: true } });
    await helm.succeed(release('uninstall', 'rollcall'));
    await gone();
  });
});

type Committed =
  | { readonly kind: 'chart'; readonly chart: string }
  | { readonly kind: 'none'; readonly reason: string };

/** The chart before the last commit that changed it, in a folder of its own; none where the history does not go back so far. */
function committedChart(directory: string): Committed {
  const git = (...words: readonly string[]): Buffer =>
    execFileSync('git', words, { cwd: repositoryPath(''), maxBuffer: 2 ** 26, stdio: 'pipe' });
  try {
    const last = git('log', '-1', '--format=%H', '--', 'infra').toString().trim();
    const archive = git('archive', '--format=tar', `${last}^`, 'infra');
    mkdirSync(directory);
    execFileSync('tar', ['-x', '-C', directory], { input: archive });
  } catch (error) {
    return { kind: 'none', reason: `no history of the chart: ${String(error)}` };
  }
  return { kind: 'chart', chart: path.join(directory, 'infra') };
}

function earlierChart(directory: string): string {
  const earlier = path.join(directory, 'infra');
  cpSync(CHART, earlier, { recursive: true });
  const file = path.join(earlier, 'Chart.yaml');
  const text = readFileSync(file, 'utf8');
  writeFileSync(file, text.replaceAll(/ersion: \d.*/g, `ersion: ${EARLIER_VERSION}`));
  writeFileSync(path.join(earlier, 'templates', 'former.yaml'), FORMER);
  return earlier;
}

/** Kind, namespace and name of every object of every kind. */
async function everything(kubectl: Kubectl): Promise<readonly string[]> {
  const kinds = await kubectl.succeed('api-resources --verbs=list,delete -o name --cached=false');
  const names = kinds.trim().split('\n').join(',');
  const text = await kubectl.succeed(['get', names, '-A', '-o', 'json']);
  const { items } = JSON.parse(text) as { readonly items: readonly KubernetesObject[] };
  return items
    .filter(({ kind = '' }) => !COMING_AND_GOING.includes(kind))
    .map(({ kind, metadata }) => `${String(kind)} ${metadata.namespace ?? ''}/${metadata.name}`)
    .sort();
}

async function imageOf(kubectl: Kubectl): Promise<string> {
  const query = 'jsonpath={.spec.template.spec.containers[0].image}';
  return kubectl.succeed(`-n rollcall-system get deployment rollcall-watcher -o ${query}`);
}
