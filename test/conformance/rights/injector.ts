/**
 * A sidecar injector for tests: a mutating webhook on 127.0.0.1 that adds to every pod what Istio, Vault, Datadog and the
 * like add, and leaves a pod alone that has the sidecar already, as they do.
 */
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Json, JsonObject } from '@rollcall/base/json.ts';
import { createAuthority } from '@rollcall/local-cluster/access/certificates.ts';

export interface Injector {
  /** To be created in the cluster. */
  readonly configuration: JsonObject;
  readonly stop: () => Promise<void>;
}

/** The container that it adds. */
export const SIDECAR: JsonObject = {
  name: 'proxy',
  image: 'registry.example/proxy:3',
  args: ['proxy', '--domain', 'svc.cluster.local'],
  env: [{ name: 'POD', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }],
  securityContext: { runAsUser: 1337 },
  volumeMounts: [{ name: 'proxy-data', mountPath: '/data' }],
};

const INIT: JsonObject = {
  name: 'proxy-init',
  image: 'registry.example/proxy:3',
  command: ['redirect'],
  securityContext: { capabilities: { add: ['NET_ADMIN'] } },
};

interface Review {
  readonly request: {
    readonly uid: string;
    readonly object: {
      readonly spec: JsonObject & {
        readonly containers: readonly JsonObject[];
        readonly initContainers?: readonly JsonObject[];
        readonly volumes?: readonly JsonObject[];
      };
      readonly metadata: { readonly annotations?: JsonObject; readonly labels?: JsonObject };
    };
  };
}

/** Starts it. */
export async function startInjector(): Promise<Injector> {
  const { caPem, serving } = await createAuthority({ nowMs: Date.now() });
  const options = { key: serving.keyPem, cert: serving.certificatePem };
  const server = createServer(options, (request, response) => {
    void text(request).then((body) => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(answer(JSON.parse(body) as Review)));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    configuration: configurationOf(`https://127.0.0.1:${String(port)}/`, caPem),
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function configurationOf(url: string, caPem: string): JsonObject {
  const caBundle = Buffer.from(caPem).toString('base64');
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingWebhookConfiguration',
    metadata: { name: 'injector' },
    webhooks: [
      {
        name: 'injector.example.com',
        clientConfig: { url, caBundle },
        rules: [
          { apiGroups: [''], apiVersions: ['v1'], resources: ['pods'], operations: ['CREATE'] },
        ],
        admissionReviewVersions: ['v1'],
        sideEffects: 'None',
      },
    ],
  };
}

function answer({ request: { uid, object } }: Review): JsonObject {
  const { spec, metadata } = object;
  const hasSidecar = spec.containers.some(({ name }) => name === SIDECAR['name']);
  const patch: JsonObject[] = hasSidecar
    ? []
    : [
        { op: 'add', path: '/metadata/labels/mesh', value: 'v3' },
        add('/metadata/annotations', { ...metadata.annotations, 'mesh.example.com/status': 'in' }),
        add('/spec/containers', [...spec.containers.map(withVariable), SIDECAR]),
        add('/spec/initContainers', [INIT, ...(spec.initContainers ?? [])]),
        add('/spec/volumes', [...(spec.volumes ?? []), { name: 'proxy-data', emptyDir: {} }]),
      ];
  const response = {
    uid,
    allowed: true,
    patchType: 'JSONPatch',
    patch: Buffer.from(JSON.stringify(patch)).toString('base64'),
  };
  return { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response };
}

function add(path: string, value: Json): JsonObject {
  return { op: 'add', path, value };
}

function withVariable(container: JsonObject): JsonObject {
  const { env = [] } = container;
  return { ...container, env: [...(env as Json[]), { name: 'MESH_AGENT', value: 'local' }] };
}
