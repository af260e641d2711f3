/**
 * Keeps the default ServiceAccount and the root CA ConfigMap in every active namespace (two controllers upstream).
 *
 * A loop around plan-namespace-furnishings.ts: any change of a namespace, of such an account or such a ConfigMap looks
 * at its namespace again.
 */
import type { ClientOutcome } from '../../client/local-client.ts';
import type { ControllerContext, RunningController } from '../shared/controller-context.ts';
import { createWorkQueue, DONE, RETRY } from '../shared/work-queue.ts';
import type { WorkOutcome } from '../shared/work-queue.ts';
import {
  DEFAULT_ACCOUNT,
  planNamespaceFurnishings,
  ROOT_CA_CONFIG_MAP,
} from './plan-namespace-furnishings.ts';
import type { NamespaceFurnishing } from './plan-namespace-furnishings.ts';

/** Starts it. */
export function startServiceAccountController(context: ControllerContext): RunningController {
  const { mirrors, clock, log } = context;
  const queue = createWorkQueue({
    name: 'service-account',
    clock,
    log,
    process: (namespace) => furnish(context, namespace),
  });
  mirrors.of('namespaces').subscribe(({ object }) => {
    queue.add(object.metadata.name);
  });
  const watchNamed = (resource: 'serviceaccounts' | 'configmaps', name: string): void => {
    mirrors.of(resource).subscribe(({ object: { metadata } }) => {
      if (metadata.name === name && metadata.namespace !== undefined) queue.add(metadata.namespace);
    });
  };
  watchNamed('serviceaccounts', DEFAULT_ACCOUNT);
  if (context.settings.caPem !== undefined) watchNamed('configmaps', ROOT_CA_CONFIG_MAP);
  return { stop: queue.stop };
}

async function furnish(context: ControllerContext, name: string): Promise<WorkOutcome> {
  const { mirrors, settings } = context;
  const namespace = mirrors.of('namespaces').get(name);
  if (namespace === undefined) return DONE;
  const plan = planNamespaceFurnishings({
    namespace,
    account: mirrors.of('serviceaccounts').get(DEFAULT_ACCOUNT, name),
    rootCa: mirrors.of('configmaps').get(ROOT_CA_CONFIG_MAP, name),
    caPem: settings.caPem,
  });
  let outcome = DONE;
  for (const item of plan) {
    const answer = await carryOut(context, item, name);
    if (!isSettled(answer)) outcome = RETRY;
  }
  return outcome;
}

function carryOut(
  { client }: ControllerContext,
  item: NamespaceFurnishing,
  namespace: string,
): Promise<ClientOutcome> {
  switch (item.kind) {
    case 'create-account':
      return client.create('serviceaccounts', item.object);
    case 'create-root-ca':
      return client.create('configmaps', item.object);
    case 'update-root-ca':
      return client.update(
        { resource: 'configmaps', namespace, name: ROOT_CA_CONFIG_MAP },
        item.object,
      );
  }
}

/** A namespace that is gone or terminating needs nothing, and what exists already need not be made. */
function isSettled(answer: ClientOutcome): boolean {
  if (answer.kind === 'ok') return true;
  const { reason, code } = answer.status;
  return (
    reason === 'AlreadyExists' || reason === 'NotFound' || (code === 403 && reason === 'Forbidden')
  );
}
