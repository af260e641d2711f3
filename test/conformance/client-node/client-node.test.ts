/**
 * The official client for Node against a real API server: what the suite asks of the local cluster is what Kubernetes does.
 *
 * ROLLCALL_TEST_KUBECONFIG names an existing cluster instead; its namespaces `client-…` must not be there yet.
 */
import { after, before } from 'node:test';
import { describeInformers } from '../../support/client-node/informers.ts';
import { describePatches } from '../../support/client-node/patches.ts';
import type { ClientPlace } from '../../support/client-node/place.ts';
import { describeTypedClients } from '../../support/client-node/typed-clients.ts';
import { describeWatches } from '../../support/client-node/watches.ts';
import type { TestCluster } from '../control-plane/test-cluster.ts';
import { describeOnBackend, openBackend } from '../scenarios/backends.ts';

const options = { timeout: 900_000 } as const;

describeOnBackend('@kubernetes/client-node', options, (backend) => {
  let cluster: TestCluster | undefined;
  before(async () => {
    cluster = await openBackend(backend, 'client-node');
  });
  after(async () => {
    await cluster?.close();
  });

  const place: ClientPlace = {
    kubeconfigOf: (actor) => cluster?.access.writeKubeconfig(actor) ?? '',
  };
  describeTypedClients(place);
  describePatches(place);
  describeWatches(place);
  describeInformers(place);
});
