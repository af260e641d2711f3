/**
 * Where the suite of client-node runs, and the objects that it makes there.
 *
 * The files beside this one define the suite; test/integration/client-node runs it against the local cluster,
 * test/conformance/client-node against a real API server. They know the cluster by kubeconfigs alone, as a user does, and
 * take nothing of this project to talk to it. Each part works in a namespace of its own.
 */
import assert from 'node:assert/strict';
import { ApiException, AppsV1Api, CoreV1Api, KubeConfig } from '@kubernetes/client-node';
import type { V1ConfigMap, V1DaemonSet } from '@kubernetes/client-node';

/** Who asks. */
export type ClientActor = 'admin' | 'watcher';

/** The cluster under test; valid while tests run. */
export interface ClientPlace {
  /** The path of an actor's kubeconfig. */
  readonly kubeconfigOf: (actor: ClientActor) => string;
}

export function configOf(place: ClientPlace, actor: ClientActor = 'admin'): KubeConfig {
  const config = new KubeConfig();
  config.loadFromFile(place.kubeconfigOf(actor));
  return config;
}

/** The administrator's clients; made when they are first asked for, as the cluster starts after tests are defined. */
export class Clients {
  readonly place: ClientPlace;
  #config: KubeConfig | undefined;

  constructor(place: ClientPlace) {
    this.place = place;
  }

  get config(): KubeConfig {
    this.#config ??= configOf(this.place);
    return this.#config;
  }

  get core(): CoreV1Api {
    return this.config.makeApiClient(CoreV1Api);
  }

  get apps(): AppsV1Api {
    return this.config.makeApiClient(AppsV1Api);
  }
}

export async function makeNamespace(config: KubeConfig, name: string): Promise<void> {
  await config.makeApiClient(CoreV1Api).createNamespace({ body: { metadata: { name } } });
}

export function configMap(
  name: string,
  parts: Pick<V1ConfigMap, 'data'> & { readonly labels?: Record<string, string> } = {},
): V1ConfigMap {
  const { labels, data } = parts;
  return {
    metadata: { name, ...(labels === undefined ? {} : { labels }) },
    ...(data === undefined ? {} : { data }),
  };
}

/** A DaemonSet that no node is meant for: nobody but the test changes it. */
export function daemonSet(name: string): V1DaemonSet {
  const labels = { app: name };
  return {
    metadata: { name },
    spec: {
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          nodeSelector: { 'rollcall.example.com/none': 'true' },
          containers: [
            { name: 'agent', image: 'registry.example.com/agent:1' },
            { name: 'helper', image: 'registry.example.com/helper:1' },
          ],
        },
      },
    },
  };
}

interface RefusalBody {
  readonly reason?: string;
  readonly message?: string;
  readonly details?: { readonly causes?: readonly { readonly field?: string }[] };
}

/** Asserts that a call is refused with this HTTP code; gives the Status that came with it. */
export async function refusalOf(call: Promise<unknown>, code: number): Promise<RefusalBody> {
  const error = await call.then(
    () => assert.fail(`expected ${String(code)}, and it was done`),
    (cause: unknown) => cause,
  );
  assert.ok(error instanceof ApiException, String(error));
  assert.equal(error.code, code, error.message);
  const body: unknown = error.body;
  return (typeof body === 'string' ? JSON.parse(body) : body) as RefusalBody; // a Status, as servers send it
}
