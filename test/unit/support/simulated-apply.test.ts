/** Server-side apply of the simulated cluster, by the words of a real API server's answers (ADR 0066). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { VirtualClock } from '@rollcall/base/testing/virtual-clock.ts';
import { clusterUid } from '../../../src/core/model/identifiers.ts';
import type { FleetManifest } from '../../../src/core/fleet/fleet-daemon-set.ts';
import type { ManifestOutcome } from '../../../src/ports/cluster/manifest-access.ts';
import { SimulatedCluster } from '../../support/simulated-cluster.ts';

const KEY = { namespace: 'agents', name: 'a' };
const PLAIN = { isDryRun: false, isForced: false, deadlineMs: Infinity };
const IMAGE = '.spec.template.spec.containers[name="x"].image';

type Labels = Readonly<Record<string, string>>;

function manifest(
  image: string,
  container: object = {},
  { labels = {}, ...spec }: { readonly labels?: Labels } & Readonly<Record<string, unknown>> = {},
): FleetManifest {
  const containers = [{ name: 'x', image, ...container }];
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { ...KEY, labels },
    spec: { template: { metadata: { labels: { a: 'b' } }, spec: { containers, ...spec } } },
  };
}

function cluster(): SimulatedCluster {
  return new SimulatedCluster(clusterUid('c'), new VirtualClock());
}

function applied(outcome: ManifestOutcome) {
  assert.equal(outcome.kind, 'applied', JSON.stringify(outcome));
  assert.ok(outcome.kind === 'applied');
  const { metadata, spec } = outcome.object;
  const { containers } = spec.template.spec as unknown as {
    readonly containers: readonly Readonly<Record<string, unknown>>[];
  };
  return { ...metadata, isCreated: outcome.isCreated, containers };
}

describe('server-side apply of the simulated cluster', () => {
  it('creates, and an equal apply changes nothing', async () => {
    const api = cluster();
    const created = applied(await api.applyDaemonSet(manifest('i1'), PLAIN));
    assert.deepEqual([created.isCreated, created.generation], [true, 1]);
    const again = applied(await api.applyDaemonSet(manifest('i1'), PLAIN));
    assert.deepEqual([again.isCreated, again.resourceVersion], [false, created.resourceVersion]);
  });

  it('raises the generation when the spec changes, and only then', async () => {
    const api = cluster();
    await api.applyDaemonSet(manifest('i1'), PLAIN);
    const labelled = manifest('i1', {}, { labels: { new: 'label' } });
    const relabelled = applied(await api.applyDaemonSet(labelled, PLAIN));
    assert.equal(relabelled.generation, 1);
    assert.equal(applied(await api.applyDaemonSet(manifest('i2'), PLAIN)).generation, 2);
  });

  it('keeps nothing of a dry run', async () => {
    const api = cluster();
    const dry = applied(await api.applyDaemonSet(manifest('i1'), { ...PLAIN, isDryRun: true }));
    assert.deepEqual([dry.isCreated, dry.resourceVersion], [true, '']);
    assert.deepEqual(await api.getDaemonSet(KEY), { kind: 'missing' });
  });

  it('names who owns another value, takes it by force, and is then named itself', async () => {
    const api = cluster();
    await api.applyDaemonSet(manifest('i1'), PLAIN);
    const rival = api.manifests.applyAs('argocd', manifest('i9'), PLAIN);
    assert.deepEqual(rival, {
      kind: 'conflict',
      conflicts: [{ manager: 'rollcall', field: IMAGE }],
    });
    api.manifests.applyAs('argocd', manifest('i9'), { ...PLAIN, isForced: true });
    const lost = await api.applyDaemonSet(manifest('i2'), PLAIN);
    assert.deepEqual(lost, { kind: 'conflict', conflicts: [{ manager: 'argocd', field: IMAGE }] });
    await api.applyDaemonSet(manifest('i2'), { ...PLAIN, isForced: true });
    assert.equal(api.manifests.applyAs('argocd', manifest('i9'), PLAIN).kind, 'conflict');
  });

  it('has two owners of an equal value, and a field goes with its last one', async () => {
    const api = cluster();
    const grace = { terminationGracePeriodSeconds: 9 };
    await api.applyDaemonSet(manifest('i1', {}, grace), PLAIN);
    api.manifests.applyAs('argocd', manifest('i1', {}, grace), PLAIN);
    const specOf = (): Readonly<Record<string, unknown>> => {
      const found = api.find('daemonsets', 'a', 'agents')?.['spec'];
      return (found as { template: { spec: Record<string, unknown> } }).template.spec;
    };
    await api.applyDaemonSet(manifest('i1'), PLAIN);
    assert.equal(specOf()['terminationGracePeriodSeconds'], 9);
    api.manifests.applyAs('argocd', manifest('i1'), PLAIN);
    assert.equal(specOf()['terminationGracePeriodSeconds'], undefined);
  });

  it('merges containers by name, and takes out only those that it gave', async () => {
    const api = cluster();
    await api.applyDaemonSet(manifest('i1'), PLAIN);
    const sidecar = { containers: [{ name: 'mesh', image: 'm' }] };
    const other = manifest('', {}, sidecar);
    api.manifests.applyAs('injector', other, PLAIN);
    const names = ({ containers }: ReturnType<typeof applied>): unknown[] =>
      containers.map(({ name }) => name);
    assert.deepEqual(names(applied(await api.applyDaemonSet(manifest('i2'), PLAIN))), [
      'x',
      'mesh',
    ]);
    const renamed = manifest('i2', { name: 'y' });
    assert.deepEqual(names(applied(await api.applyDaemonSet(renamed, PLAIN))), ['mesh', 'y']);
  });

  it('is fenced by version and UID', async () => {
    const api = cluster();
    const { uid, resourceVersion } = applied(await api.applyDaemonSet(manifest('i1'), PLAIN));
    const fence = { ...PLAIN, uid, resourceVersion };
    assert.equal((await api.applyDaemonSet(manifest('i2'), fence)).kind, 'applied');
    assert.equal((await api.applyDaemonSet(manifest('i3'), fence)).kind, 'changed');
    api.remove('daemonsets', 'a', 'agents');
    assert.equal((await api.applyDaemonSet(manifest('i3'), fence)).kind, 'changed');
  });

  it('gives what was there before the first apply to somebody else', async () => {
    const api = cluster();
    const there = manifest('i0');
    api.put('daemonsets', { ...there, metadata: { ...there.metadata } });
    const outcome = await api.applyDaemonSet(manifest('i1'), PLAIN);
    const conflicts = [{ manager: 'before-first-apply', field: IMAGE }];
    assert.deepEqual(outcome, { kind: 'conflict', conflicts });
  });

  it('gives an edit to who made it, but what rollcall wrote is no rival under the fence', async () => {
    const api = cluster();
    await api.applyDaemonSet(manifest('i1'), PLAIN);
    const edited = api.manifests.editAs('kubectl-edit', KEY, (it) => ({
      ...it,
      spec: manifest('i5').spec,
    }));
    assert.equal(edited.metadata.generation, 2);
    const conflicts = [{ manager: 'kubectl-edit', field: IMAGE }];
    assert.deepEqual(await api.applyDaemonSet(manifest('i2'), PLAIN), {
      kind: 'conflict',
      conflicts,
    });
    api.manifests.editAs('rollcall', KEY, (it) => ({ ...it, spec: manifest('i6').spec }));
    assert.equal((await api.applyDaemonSet(manifest('i2'), PLAIN)).kind, 'conflict');
    const { resourceVersion } = api.find('daemonsets', 'a', 'agents')?.metadata ?? assert.fail();
    assert.equal(
      (await api.applyDaemonSet(manifest('i2'), { ...PLAIN, resourceVersion })).kind,
      'applied',
    );
    assert.deepEqual(await api.readDaemonSetManagers(KEY), {
      kind: 'found',
      object: [{ manager: 'rollcall', operation: 'Apply', atMs: new VirtualClock().nowMs() }],
    });
  });
});
