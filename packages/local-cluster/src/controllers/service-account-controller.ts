/**
 * Keeps the ServiceAccount `default` and the ConfigMap `kube-root-ca.crt` in every active namespace (two controllers
 * upstream).
 *
 * Any change of a namespace, of such an account or such a ConfigMap looks at its namespace again.
 */
import type { JsonObject } from '@rollcall/base/json.ts';
import type { ClientOutcome } from '../client/local-client.ts';
import type { ApiObject, ResourceName } from '../objects/api-object.ts';
import type { ControllerContext, RunningController } from './shared/controller-context.ts';
import { isNamespaceActive } from './shared/object-views.ts';
import { createWorkQueue, DONE, RETRY } from './shared/work-queue.ts';
import type { WorkOutcome } from './shared/work-queue.ts';

const ROOT_CA_CONFIG_MAP = 'kube-root-ca.crt';
const DEFAULT_ACCOUNT = 'default';
const DESCRIPTION =
  'Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. ' +
  'No other usage is guaranteed across distributions of Kubernetes clusters.';

/** Starts it. */
export function startServiceAccountController(context: ControllerContext): RunningController {
  const { mirrors, clock, log, settings } = context;
  const queue = createWorkQueue({
    name: 'service-account',
    clock,
    log,
    process: (namespace) => furnish(context, namespace),
  });
  mirrors.of('namespaces').subscribe(({ object }) => {
    queue.add(object.metadata.name);
  });
  const watchNamed = (resource: ResourceName, name: string): void => {
    mirrors.of(resource).subscribe(({ object: { metadata } }) => {
      if (metadata.name === name && metadata.namespace !== undefined) queue.add(metadata.namespace);
    });
  };
  watchNamed('serviceaccounts', DEFAULT_ACCOUNT);
  if (settings.caPem !== undefined) watchNamed('configmaps', ROOT_CA_CONFIG_MAP);
  return { stop: queue.stop };
}

async function furnish(context: ControllerContext, namespace: string): Promise<WorkOutcome> {
  const { mirrors, client, settings } = context;
  const found = mirrors.of('namespaces').get(namespace);
  if (found === undefined || !isNamespaceActive(found)) return DONE;
  const answers: ClientOutcome[] = [];
  if (mirrors.of('serviceaccounts').get(DEFAULT_ACCOUNT, namespace) === undefined) {
    const metadata = { name: DEFAULT_ACCOUNT, namespace };
    const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata };
    answers.push(await client.create('serviceaccounts', account));
  }
  if (settings.caPem !== undefined) {
    const current = mirrors.of('configmaps').get(ROOT_CA_CONFIG_MAP, namespace);
    const wanted = rootCaConfigMap(namespace, settings.caPem);
    const ref = { resource: 'configmaps', namespace, name: ROOT_CA_CONFIG_MAP } as const;
    if (current === undefined) answers.push(await client.create('configmaps', wanted));
    else if (!isRight(current, settings.caPem)) answers.push(await client.update(ref, wanted));
  }
  return answers.every(isSettled) ? DONE : RETRY;
}

function rootCaConfigMap(namespace: string, caPem: string): JsonObject {
  const annotations = { 'kubernetes.io/description': DESCRIPTION };
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: ROOT_CA_CONFIG_MAP, namespace, annotations },
    data: { 'ca.crt': caPem },
  };
}

function isRight(rootCa: ApiObject, caPem: string): boolean {
  const data = (rootCa['data'] ?? {}) as Readonly<Record<string, string>>;
  return data['ca.crt'] === caPem && Object.keys(data).length === 1;
}

/** A namespace that is gone or terminating needs nothing, and what exists already need not be made. */
function isSettled(answer: ClientOutcome): boolean {
  if (answer.kind === 'ok') return true;
  const { reason, code } = answer.status;
  return (
    reason === 'AlreadyExists' || reason === 'NotFound' || (code === 403 && reason === 'Forbidden')
  );
}
