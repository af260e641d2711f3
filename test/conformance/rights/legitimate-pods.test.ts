/**
 * Pods that Rollcall makes, and what a real API server, its plug-ins and a cluster's webhooks make of them before a policy
 * sees them: all pass (row 69). What a webhook adds passes only where the list says it, word for word (ADR 0063).
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { readInjected, samplePods } from '../../../scripts/install/injected.ts';
import { listedPolicy, readDaemonSetList } from '../../../scripts/install/listed-policy.ts';
import type { Json, JsonObject } from '@rollcall/base/json.ts';
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import type { ApiClient, ApiResponse, KubernetesObject } from '../control-plane/api.ts';
import { pollUntil } from '../control-plane/poll.ts';
import { collectionPath } from '../scenarios/manifests.ts';
import {
  assertAccepted,
  assertDenied,
  changed,
  dryRun,
  messageOf,
  openAdmissionStage,
  podOf,
} from './admission-stage.ts';
import type { AdmissionStage } from './admission-stage.ts';
import { WIDE_NAMESPACE, wideDaemonSet, type DraftPod } from './wide-daemon-set.ts';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { createAuthority } from '@rollcall/local-cluster/access/certificates.ts';

interface Injector {
  /** To be created in the cluster. */
  readonly configuration: JsonObject;
  readonly stop: () => Promise<void>;
}

/** The container that it adds. */
const SIDECAR: JsonObject = {
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
async function startInjector(): Promise<Injector> {
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

const NAMESPACE_PATH = `/api/v1/namespaces/${WIDE_NAMESPACE}`;
const AGENT = { name: 'agent', image: 'registry.example/agent:1' };

/** A DaemonSet of little, with what a test is about. */
function small(name: string, spec: JsonObject, annotations: JsonObject = {}): JsonObject {
  const labels = { app: name };
  const podSpec = { containers: [AGENT], ...spec };
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name, namespace: WIDE_NAMESPACE },
    spec: {
      selector: { matchLabels: labels },
      template: { metadata: { labels, annotations }, spec: podSpec },
    },
  };
}

const TERM = { topologyKey: 'zone', labelSelector: {}, matchLabelKeys: ['app'] };
const DEVICE = 'devices.example/kvm';

describe('pods that Rollcall makes, and what becomes of them before a policy sees them', () => {
  let stage: AdmissionStage;
  let rollcall: ApiClient;
  let admin: ApiClient;

  before(async () => {
    stage = await openAdmissionStage(['AlwaysPullImages', 'ExtendedResourceToleration']);
    ({ rollcall, admin } = stage);
    const metadata = { name: 'shares', namespace: WIDE_NAMESPACE };
    const limits = [
      { type: 'Container', default: { cpu: '1' }, defaultRequest: { memory: '1Mi' } },
    ];
    await admin.post(`${NAMESPACE_PATH}/limitranges`, { metadata, spec: { limits } });
    await admin.patch(`${NAMESPACE_PATH}/serviceaccounts/agent`, {
      imagePullSecrets: [{ name: 'registry' }],
    });
    await admin.post('/apis/node.k8s.io/v1/runtimeclasses', {
      metadata: { name: 'sandboxed' },
      handler: 'sandboxed',
      overhead: { podFixed: { cpu: '1' } },
      scheduling: {
        nodeSelector: { sandbox: 'yes' },
        tolerations: [{ key: 'sandbox', operator: 'Exists' }],
      },
    });
  });

  after(() => stage.stop());

  // A class, a limit range, an account's secrets, the account's token: all in this cluster, for every one of these.
  for (const [what, daemonSet] of [
    ['everything at once', wideDaemonSet('legitimate')],
    [
      'ports on the host’s network, whose numbers on the host are filled in',
      small('ports', {
        hostNetwork: true,
        containers: [{ ...AGENT, ports: [{ containerPort: 9100, name: 'x' }] }],
      }),
    ],
    [
      'an AppArmor profile by annotation, which becomes a field',
      small(
        'annotated',
        {},
        {
          'container.apparmor.security.beta.kubernetes.io/agent': 'unconfined',
        },
      ),
    ],
    [
      'affinity and spread by the pod’s own labels, whose selectors are filled in',
      small('spread', {
        affinity: {
          podAntiAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: [TERM],
            preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, podAffinityTerm: TERM }],
          },
        },
        topologySpreadConstraints: [{ ...TERM, maxSkew: 1, whenUnsatisfiable: 'ScheduleAnyway' }],
      }),
    ],
    [
      'a runtime class with overhead and scheduling',
      small('class', { runtimeClassName: 'sandboxed' }),
    ],
    [
      'a device, whose toleration is filled in',
      small('device', { containers: [{ ...AGENT, resources: { limits: { [DEVICE]: 1 } } }] }),
    ],
    ['no token', small('tokenless', { automountServiceAccountToken: false })],
    [
      'its pod’s own share, requests filled in from limits',
      small('share', { resources: { limits: { cpu: '2', memory: '64Mi' } } }),
    ],
  ] satisfies readonly (readonly [string, JsonObject])[]) {
    it(`lets pass: ${what}`, async () => {
      const created = await stage.createDaemonSet(daemonSet);
      const name = created.metadata.name;
      await accepted(() => dryRun(rollcall, podOf(created)), name);
    });
  }

  it('wants a global default class of priority to be named, and takes no other (row 69)', async () => {
    const priorities = '/apis/scheduling.k8s.io/v1/priorityclasses';
    await admin.post(priorities, { metadata: { name: 'usual' }, value: 1, globalDefault: true });
    await admin.post(priorities, { metadata: { name: 'urgent' }, value: 1_000_000 });
    const created = await stage.createDaemonSet(small('classless', {}));
    const urgent = changed(created, (pod) => (pod.spec['priorityClassName'] = 'urgent'));
    await pollUntil({ deadlineMs: 60_000, description: 'the default class' }, async () => {
      const response = await dryRun(rollcall, podOf(created));
      return response.status === 422 ? true : undefined;
    });
    assertDenied(await dryRun(rollcall, podOf(created)), /default-priority-class/);
    assertDenied(await dryRun(rollcall, urgent), /priorityClassName differs/);
    const annotations = { 'rollcall.dev/default-priority-class': 'usual' };
    await admin.patch(NAMESPACE_PATH, { metadata: { annotations } });
    await accepted(() => dryRun(rollcall, podOf(created)), 'classless');
    assertDenied(await dryRun(rollcall, urgent), /priorityClassName differs/);
  });

  describe('with a webhook that adds sidecars', () => {
    let injector: Injector;
    let owner: DaemonSetObject;
    let withoutPolicy: readonly Json[];

    before(async () => {
      owner = await stage.createDaemonSet(wideDaemonSet('meshed'));
      injector = await startInjector();
      await admin.post(
        '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations',
        injector.configuration,
      );
      await pollUntil({ deadlineMs: 60_000, description: 'the webhook' }, async () => {
        const { body } = await dryRun(admin, podOf(owner));
        return containersOf(body).includes('proxy') ? true : undefined;
      });
    });

    after(() => injector.stop());

    it('refuses what nobody listed: a sidecar looks like an attacker’s container', async () => {
      assertDenied(await dryRun(rollcall, podOf(owner)), /labels differ|containers differ/);
    });

    it('lets pass what an administrator saw the webhook add, and listed', async () => {
      const raw = [{ ...owner, kind: 'DaemonSet' } as unknown as JsonObject];
      const { items } = samplePods(raw) as unknown as { readonly items: readonly JsonObject[] };
      withoutPolicy = await Promise.all(
        items.map(async (pod) => (await dryRun(admin, pod)).body as Json),
      );
      const injected = readInjected({ items: withoutPolicy }, raw);
      const listed = readDaemonSetList(JSON.stringify({ items: raw }));
      for (const object of listedPolicy(listed, injected)) {
        const manifest = object as unknown as KubernetesObject; // a manifest is raw JSON
        await admin.post(collectionPath(manifest), manifest);
      }
      // The list first, the wide bindings after it (docs/security.md): no moment without a comparison.
      // Of another name and UID, so that the list alone refuses it: of several refusals any may be told.
      await eventuallyDenied(
        (pod) => Object.assign(pod.metadata.ownerReferences[0] ?? {}, { name: 'x', uid: 'x' }),
        /listed/,
      );
      for (const name of ['rollcall-owner', 'rollcall-history-owner']) {
        await admin.delete(
          `/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings/${name}`,
        );
      }
      await accepted(() => dryRun(rollcall, podOf(owner)), 'meshed');
      // Its sidecar passes, so the wide bindings are out of force: what refuses now is the list.
      await eventuallyDenied((pod) => (pod.spec['hostPID'] = true), /spec\.hostPID/);
    });

    for (const [what, change] of [
      ['other arguments', { args: ['proxy', '--exec=/host/evil'] }],
      ['a command', { command: ['/bin/sh'] }],
      ['another image', { image: 'registry.example/proxy:3-evil' }],
      ['privilege', { securityContext: { privileged: true } }],
      ['a volume of the template', { volumeMounts: [{ name: 'host', mountPath: '/data' }] }],
      ['one more variable', { env: [{ name: 'LD_PRELOAD', value: '/data/x' }] }],
    ] satisfies readonly (readonly [string, JsonObject])[]) {
      it(`refuses the listed sidecar with ${what} (row 69)`, async () => {
        const attack = (pod: DraftPod): void => {
          pod.spec.containers.push({ ...SIDECAR, ...change });
          pod.spec.volumes.push({ name: 'proxy-data', emptyDir: {} });
        };
        assertDenied(await dryRun(rollcall, changed(owner, attack)), /differ/);
      });
    }

    it('refuses another variable in a container of the template, and another volume', async () => {
      const sidecar = (pod: DraftPod): void => {
        pod.spec.containers.push(structuredClone(SIDECAR));
        pod.spec.volumes.push({ name: 'proxy-data', emptyDir: {} });
      };
      const passes = await dryRun(rollcall, changed(owner, sidecar));
      assertAccepted(passes);
      const variable = changed(owner, (pod) => {
        sidecar(pod);
        (pod.spec.containers[0]?.['env'] as unknown[]).push({ name: 'MESH_AGENT', value: 'evil' });
      });
      assertDenied(await dryRun(rollcall, variable), /environment differs/);
      const host = changed(owner, (pod) => {
        pod.spec.containers.push(structuredClone(SIDECAR));
        pod.spec.volumes.push({ name: 'proxy-data', hostPath: { path: '/' } });
      });
      assertDenied(await dryRun(rollcall, host), /volumes differ/);
    });

    it('reads the same additions off every pod, and none where there are none', () => {
      const raw = [{ ...owner, kind: 'DaemonSet' } as unknown as JsonObject];
      const plain = podOf(owner);
      assert.equal(readInjected({ items: [plain] }, raw).size, 0);
      const [first] = readInjected({ items: withoutPolicy }, raw).values();
      assert.ok(first !== undefined);
      assert.deepEqual(first.labels, { mesh: 'v3' });
      assert.deepEqual(Object.keys(first.env).sort(), ['agent', 'second']);
      assert.ok(
        isDeepStrictEqual(first.volumeMounts, {}),
        'the account’s token is nobody’s addition',
      );
    });

    async function eventuallyDenied(
      change: (pod: DraftPod) => void,
      refusal: RegExp,
    ): Promise<void> {
      const description = `a refusal like ${String(refusal)}`;
      await pollUntil({ deadlineMs: 60_000, description }, async () => {
        const response = await dryRun(rollcall, changed(owner, change));
        return refusal.test(messageOf(response)) ? true : undefined;
      });
    }
  });

  /** A parameter, or an annotation, is seen a moment later. */
  async function accepted(attempt: () => Promise<ApiResponse>, what: string): Promise<void> {
    let last = '';
    await pollUntil({ deadlineMs: 15_000, description: what }, async () => {
      const response = await attempt();
      last = `${String(response.status)} ${messageOf(response)}`;
      return response.status === 201 ? true : undefined;
    }).catch((cause: unknown) => {
      throw new Error(`${what}: ${last}`, { cause });
    });
  }
});

function containersOf(body: unknown): readonly unknown[] {
  const { spec } = body as { readonly spec?: { readonly containers: readonly JsonObject[] } };
  return (spec?.containers ?? []).map(({ name }) => name);
}
