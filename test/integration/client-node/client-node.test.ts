/**
 * The official client for Node against the local cluster: a client that knows Kubernetes, and nothing of this project.
 *
 * The same suite runs against a real API server: test/conformance/client-node.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe } from 'node:test';
import { createSystemClock } from '@rollcall/base/system/system-clock.ts';
import { createSystemRandom } from '@rollcall/base/system/system-random.ts';
import { renderKubeconfig } from '@rollcall/local-cluster/cluster/kubeconfig.ts';
import type { LocalCluster } from '@rollcall/local-cluster/cluster/local-cluster.ts';
import { startLocalCluster } from '@rollcall/local-cluster/cluster/start-local-cluster.ts';
import { describeInformers } from '../../support/client-node/informers.ts';
import { describePatches } from '../../support/client-node/patches.ts';
import type { ClientActor, ClientPlace } from '../../support/client-node/place.ts';
import { describeTypedClients } from '../../support/client-node/typed-clients.ts';
import { describeWatches } from '../../support/client-node/watches.ts';
import { MemoryLog } from '@rollcall/base/testing/memory-log.ts';

describe('@kubernetes/client-node, on the local cluster', { timeout: 120_000 }, () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'rollcall-client-node-'));
  let cluster: LocalCluster;
  before(async () => {
    cluster = await startLocalCluster({
      name: 'client-node',
      port: 0,
      machines: [],
      clock: createSystemClock(),
      random: createSystemRandom(),
      log: new MemoryLog(),
    });
  });
  after(async () => {
    await cluster.stop();
    rmSync(directory, { recursive: true });
  });

  const kubeconfigOf = (actor: ClientActor): string => {
    const file = path.join(directory, actor);
    const { tokens } = cluster;
    const own = { ...cluster, tokens: { ...tokens, admin: tokens[actor] } };
    writeFileSync(file, renderKubeconfig([own]), { mode: 0o600 });
    return file;
  };
  const place: ClientPlace = { kubeconfigOf };
  describeTypedClients(place);
  describePatches(place);
  describeWatches(place);
  describeInformers(place);
});
