/**
 * A fleet beside people and pipelines who apply the same DaemonSet: `kubectl apply --server-side`, what kustomize rendered, and a plain
 * `kubectl apply` (issue 18, build item 3). That the local API server says the same: emulator/server-side-apply.test.ts.
 *
 * Each is told by manager and field, the fleet as well as the others, and nobody's fields are taken unasked.
 */
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { stringify } from 'yaml';
import { createSystemClock } from '@rollcall/base/system/system-clock.ts';
import { HttpsClusterConnector } from '../../../src/adapters/kubernetes/api/cluster-connector.ts';
import { FLEET_REQUESTS } from '../../../src/adapters/kubernetes/api/manifest-apply.ts';
import { sendAtVersion } from '../../../src/app/fleet/send-manifest.ts';
import { fleetRenderer } from '../../../src/core/fleet/render-fleet.ts';
import { clusterUid } from '../../../src/core/model/identifiers.ts';
import type { ClusterAccess } from '../../../src/ports/cluster/cluster-access.ts';
import { fleetDocument, manifestOf } from '../../support/fleet-samples.ts';
import { createFleetReader } from '../../../src/adapters/policy/fleet/fleet-reader.ts';
import { skipWithoutTools, TOOLS } from '../../support/require-tool.ts';
import { registrationOf } from '../../support/store-suite.ts';
import { ensureBinaries } from '../control-plane/build.ts';
import { startControlPlane, type ControlPlane } from '../control-plane/control-plane.ts';
import { bindKubectl, type Kubectl } from '../kubectl/kubectl.ts';

const KEY = { namespace: 'default', name: 'agent' };
const IMAGE = '.spec.template.spec.containers[name="agent"].image';

const skip = skipWithoutTools([TOOLS.go]);

describe('a fleet beside others who apply, on a real API server', { skip }, () => {
  let directory: string;
  let plane: ControlPlane;
  let kubectl: Kubectl;
  let access: ClusterAccess;

  before(async () => {
    directory = await mkdtemp(path.join(tmpdir(), 'rollcall-appliers-'));
    plane = await startControlPlane({ name: 'appliers', loops: 'off', auditLog: false });
    const { kubeconfigPath } = plane;
    kubectl = bindKubectl({
      ...{ program: (await ensureBinaries()).kubectl, kubeconfigPath },
      cacheDirectory: path.join(directory, 'cache'),
    });
    access = await connect();
  });
  after(async () => {
    await (plane as ControlPlane | undefined)?.stop();
    await rm(directory, { recursive: true, force: true });
  });

  async function connect(): Promise<ClusterAccess> {
    const uid = await kubectl.succeed('get namespace kube-system -o jsonpath={.metadata.uid}');
    const { server, caPem, tokens } = plane;
    const connector = new HttpsClusterConnector({
      clock: createSystemClock(),
      egress: { loopback: 'allowed' },
      fleetRequests: FLEET_REQUESTS,
    });
    const connected = await connector.connect({
      ...registrationOf('a'),
      ...{ server, caPem, clusterUid: clusterUid(uid), mode: 'takeover' },
      authentication: { kind: 'bearer', token: tokens.admin },
      egress: { privateRanges: [] },
    });
    assert.ok(connected.kind === 'connected', JSON.stringify(connected));
    return connected.access;
  }

  /** As a step gives it: what it came to, in words. */
  async function give(image: string, isForced = false): Promise<string> {
    const document = { ...fleetDocument({ template: manifestOf({}, image) }), metadata: KEY };
    const reading = createFleetReader().readDocument(document);
    assert.ok(reading.kind === 'fleet');
    const rendering = fleetRenderer(reading.fleet)(registrationOf('a'));
    assert.ok(rendering.kind === 'rendered');
    const options = { isDryRun: false, isForced, deadlineMs: Infinity };
    const sent = await sendAtVersion(access, rendering.manifest, options);
    if (sent.kind !== 'conflict') return sent.kind;
    return sent.conflicts.map(({ manager, field }) => `${manager} owns ${field}`).join('; ');
  }

  const read = (jsonpath: string): Promise<string> =>
    kubectl.succeed(['get', 'daemonset', KEY.name, '-o', `jsonpath=${jsonpath}`]);
  const image = (): Promise<string> => read('{.spec.template.spec.containers[0].image}');

  /** A manifest of somebody who knows of no fleet. */
  function manifest(of: string, annotations = {}): string {
    const metadata = { ...KEY, annotations };
    return stringify({ ...manifestOf({}, of), metadata });
  }

  it('tells kubectl apply --server-side whose field it is, and loses nothing to it', async () => {
    assert.equal(await give('agent:1'), 'applied');
    const input = manifest('agent:2');
    const refused = await kubectl.run('apply --server-side -f -', { input });
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /conflict with "rollcall".*: \.spec\.template\.spec\.containers/);
    assert.equal(await image(), 'agent:1');
    assert.equal(await give('agent:1'), 'applied');
  });

  it('shares fields with who applies the same values, and changes none of them alone', async () => {
    const input = manifest('agent:1', { 'example.com/team': 'edge' });
    await kubectl.succeed('apply --server-side -f -', { input });
    assert.equal(await give('agent:1'), 'applied');
    assert.equal(await read('{.metadata.annotations.example\\.com/team}'), 'edge');
    const before = await read('{.metadata.resourceVersion}');
    assert.equal(await give('agent:2'), `kubectl owns ${IMAGE}`);
    assert.equal(await read('{.metadata.resourceVersion}'), before, 'nothing was changed');
  });

  it('names who took a field by force with what kustomize rendered', async () => {
    const base = path.join(directory, 'kustomize');
    await mkdir(base);
    await writeFile(path.join(base, 'agent.yaml'), manifest('agent:0'));
    const kustomization = {
      resources: ['agent.yaml'],
      images: [{ name: 'agent', newTag: '3' }],
      labels: [{ pairs: { tier: 'edge' } }],
    };
    await writeFile(path.join(base, 'kustomization.yaml'), stringify(kustomization));
    const input = await kubectl.succeed(['kustomize', base]);
    const as = 'apply --server-side --field-manager=kustomize-controller -f -';
    const refused = await kubectl.run(as, { input });
    assert.equal(refused.code, 1, 'not unasked');
    assert.match(refused.stderr, /conflict/);
    await kubectl.succeed(`${as} --force-conflicts`, { input });
    assert.equal(await image(), 'agent:3');
    assert.equal(await give('agent:2'), `kustomize-controller owns ${IMAGE}`);
    assert.equal(await image(), 'agent:3');
  });

  it('takes it back only where the strategy says overwrite, and leaves what is not its own', async () => {
    assert.equal(await give('agent:2', true), 'applied');
    assert.equal(await image(), 'agent:2');
    assert.equal(await read('{.metadata.labels.tier}'), 'edge');
    assert.equal(await give('agent:4'), 'applied', 'nobody else owns it any more');
  });

  it('names a plain kubectl apply, which asks nobody', async () => {
    await kubectl.succeed('apply -f -', { input: manifest('agent:5') });
    assert.equal(await image(), 'agent:5');
    assert.equal(await give('agent:4'), `kubectl-client-side-apply owns ${IMAGE}`);
    assert.equal(await image(), 'agent:5');
  });
});
