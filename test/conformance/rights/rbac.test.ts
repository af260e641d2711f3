/**
 * infra/functions/rbac.yaml on a real API server: enough for everything that the functions ask of a cluster, and not
 * one verb more (row 69).
 *
 * Everything that src/ports lets the functions ask is asked through the adapters, under a service account with the
 * shipped rules; then, for each verb on each resource of each rule, under one that lacks it: what needs it must fail
 * with its type and name what is missing, and everything else must work. OwnerReferencesPermissionEnforcement is on, as
 * some distributions have it: it is why daemonsets/finalizers is there.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { HttpsClusterConnector } from '../../../src/adapters/kubernetes/api/cluster-connector.ts';
import { createSystemClock } from '@rollcall/base/system/system-clock.ts';
import type { Effect, Outcome } from '../../../src/core/model/effects.ts';
import {
  clusterId,
  clusterUid,
  nodeName,
  resourceVersion,
  uid,
} from '../../../src/core/model/identifiers.ts';
import type { JsonObject } from '@rollcall/base/json.ts';
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import { buildCopy } from '../../../src/core/admission/template-copy.ts';
import type { ClusterRegistration } from '../../../src/core/model/registration.ts';
import type { ClusterAccess } from '../../../src/ports/cluster/cluster-access.ts';
import { createApiClient, type ApiClient, type KubernetesObject } from '../control-plane/api.ts';
import { startControlPlane, type ControlPlane } from '../control-plane/control-plane.ts';
import { pollUntil } from '../control-plane/poll.ts';
import { testDaemonSet } from '../scenarios/daemon-set.ts';
import { applyFiles } from '../scenarios/manifests.ts';
import { repositoryPath } from '../scenarios/repository.ts';
import { readRules, rightsOf, tokenWith, untilInForce, withoutRight } from './rbac-rules.ts';
import type { Right, Rules } from './rbac-rules.ts';

const RULES = readRules('infra/functions/rbac.yaml');
const DEFAULT = { namespace: 'default' };
const APPS = '/apis/apps/v1/namespaces/default';
const PODS = '/api/v1/namespaces/default/pods';
const COPIES = '/api/v1/namespaces/default/podtemplates';
const EVENTS = '/api/v1/namespaces/default/events';

/** What is asked, and of which verbs it consists; the answer is what failed, or undefined. */
interface Operation {
  readonly needs: readonly string[];
  readonly ask: (name: string, access: ClusterAccess) => Promise<string | undefined>;
}

const FINALIZERS = 'update daemonsets/finalizers';

describe('the RBAC of the functions on a real API server (row 69)', { timeout: 300_000 }, () => {
  let controlPlane: ControlPlane;
  let admin: ApiClient;
  let kubeSystemUid: string;
  let daemonSet: KubernetesObject;
  const connector = new HttpsClusterConnector({
    clock: createSystemClock({ timers: 'unreferenced' }),
    egress: { loopback: 'allowed' },
  });

  const ownerReferences = (): JsonObject[] => [
    {
      apiVersion: 'apps/v1',
      kind: 'DaemonSet',
      name: 'agent',
      uid: daemonSet.metadata.uid ?? '',
      controller: true,
      blockOwnerDeletion: true,
    },
  ];
  const pod = (name: string): JsonObject => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, ...DEFAULT, labels: { app: 'agent' } },
    spec: { containers: [{ name: 'c', image: 'registry.example/c:1' }] },
  });
  const revision = (name: string): JsonObject => ({
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata: { name, ...DEFAULT },
    revision: 1,
    data: {},
  });
  const copy = (name: string): JsonObject => {
    const typed = daemonSet as unknown as DaemonSetObject; // raw JSON either way
    const made = buildCopy(typed, { slot: 'a', hash: 'abc' });
    return { ...made, metadata: { ...(made['metadata'] as JsonObject), name } };
  };
  const event = (name: string): JsonObject => ({
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name, ...DEFAULT },
    involvedObject: { kind: 'DaemonSet', name: 'agent', ...DEFAULT },
    reason: 'Test',
    type: 'Normal',
  });
  const identityOf = ({ metadata }: KubernetesObject) => ({
    uid: uid(metadata.uid ?? ''),
    resourceVersion: resourceVersion(metadata.resourceVersion ?? ''),
  });
  const ownedBody = (body: JsonObject): JsonObject => ({
    ...body,
    metadata: { ...(body['metadata'] as JsonObject), ownerReferences: ownerReferences() },
  });

  const effect = (
    needs: readonly string[],
    make: (name: string) => Promise<Effect>,
  ): Operation => ({
    needs,
    ask: async (name, access) => {
      const deadlineMs = Number.MAX_SAFE_INTEGER;
      const [outcome] = await access.execute([await make(name)], { deadlineMs });
      return problemOf(outcome);
    },
  });
  const read = (
    needs: readonly string[],
    ask: (access: ClusterAccess) => ReturnType<ClusterAccess['getWatcherLease']>,
  ): Operation => ({
    needs,
    ask: async (_name, access) => {
      const answer = await ask(access);
      if (answer.kind === 'found') return undefined;
      const isTyped = answer.kind === 'unavailable' && answer.isRefused;
      return `${isTyped ? 'refused' : 'other'}: ${JSON.stringify(answer)}`;
    },
  });
  const key = { ...DEFAULT, name: 'agent' };
  type Any = ReturnType<ClusterAccess['getWatcherLease']>;

  const OPERATIONS: Readonly<Record<string, Operation>> = {
    // One of the two is enough: below.
    'read the DaemonSet live': read([], (it) => it.getDaemonSet(key)),
    'read a pod live': read(['get pods'], (it) => it.getPod(key)),
    'read a node live': read(['get nodes'], (it) => it.getNode('n-1')),
    'read a revision': read(['get controllerrevisions'], (it) => it.getRevision(key)),
    'list pods by selector': read(
      ['list pods'],
      (it) => it.listPodMetadata('default', 'app=agent') as unknown as Any, // judged by its kind alone
    ),
    'list revisions by selector': read(
      ['list controllerrevisions'],
      (it) => it.listRevisions('default', 'app=agent') as unknown as Any, // judged by its kind alone
    ),
    'list the Warnings of a pod': read(
      ['list events'],
      (it) => it.listPodEvents('default', 'uid-1') as unknown as Any, // judged by its kind alone
    ),
    'read the watcher’s Lease': read(['get leases'], (it) => it.getWatcherLease()),
    'ask for a snapshot': read(
      ['get leases', 'patch leases'],
      (it) => it.requestSnapshot('request') as unknown as Any, // judged by its kind alone
    ),
    'create a pod': effect(['create pods', FINALIZERS], (name) =>
      Promise.resolve({
        kind: 'create-pod',
        ...DEFAULT,
        name,
        node: nodeName('n-1'),
        body: ownedBody(pod(name)),
      }),
    ),
    'delete a pod': effect(['delete pods'], async (name) => {
      const made = await admin.post(PODS, pod(`${name}-gone`));
      return { kind: 'delete-pod', ...DEFAULT, name: `${name}-gone`, ...identityOf(made) };
    }),
    'label a pod': effect(['patch pods'], async (name) => {
      const made = await admin.post(PODS, pod(`${name}-labelled`));
      const { uid: own } = identityOf(made);
      return {
        kind: 'patch',
        resource: 'pods',
        purpose: 'relabel',
        ...DEFAULT,
        name: `${name}-labelled`,
        uid: own,
        contentType: 'application/strategic-merge-patch+json',
        body: { metadata: { uid: own, labels: { a: 'b' } } },
      };
    }),
    // The plug-in lets only those set an owner who may delete the object.
    'adopt a pod': effect(['patch pods', 'delete pods', FINALIZERS], async (name) => {
      const made = await admin.post(PODS, pod(`${name}-adopted`));
      const { uid: own } = identityOf(made);
      return {
        kind: 'patch',
        resource: 'pods',
        purpose: 'adopt',
        ...DEFAULT,
        name: `${name}-adopted`,
        uid: own,
        contentType: 'application/strategic-merge-patch+json',
        body: { metadata: { uid: own, ownerReferences: ownerReferences() } },
      };
    }),
    'create a revision': effect(['create controllerrevisions', FINALIZERS], (name) =>
      Promise.resolve({
        kind: 'create-revision',
        ...DEFAULT,
        name,
        body: ownedBody(revision(name)),
      }),
    ),
    'renumber a revision': effect(['patch controllerrevisions'], async (name) => {
      const made = await admin.post(`${APPS}/controllerrevisions`, revision(`${name}-renumbered`));
      const { uid: own, resourceVersion: version } = identityOf(made);
      return {
        kind: 'patch',
        resource: 'controllerrevisions',
        purpose: 'renumber',
        ...DEFAULT,
        name: `${name}-renumbered`,
        uid: own,
        contentType: 'application/merge-patch+json',
        body: { metadata: { uid: own, resourceVersion: version }, revision: 2 },
      };
    }),
    'delete a revision': effect(['delete controllerrevisions'], async (name) => {
      const made = await admin.post(`${APPS}/controllerrevisions`, revision(`${name}-gone`));
      return { kind: 'delete-revision', ...DEFAULT, name: `${name}-gone`, ...identityOf(made) };
    }),
    'read a copy of a template': read(['get podtemplates'], (it) =>
      it.getTemplateCopy({ ...DEFAULT, name: 'agent-rollcall-proven-a' }),
    ),
    'create a copy of a template': effect(['create podtemplates'], (name) =>
      Promise.resolve({ kind: 'create-copy', ...DEFAULT, name, body: copy(name) }),
    ),
    'replace a copy of a template': effect(['update podtemplates'], async (name) => {
      const made = await admin.post(COPIES, copy(`${name}-replaced`));
      const body = copy(`${name}-replaced`);
      const metadata = { ...(body['metadata'] as JsonObject), ...identityOf(made) };
      return {
        kind: 'replace-copy',
        ...DEFAULT,
        name: `${name}-replaced`,
        body: { ...body, metadata },
      };
    }),
    'write status': effect(['update daemonsets/status'], async () => {
      const current = await admin.get(`${APPS}/daemonsets/agent`);
      const { uid: own } = identityOf(current);
      return {
        kind: 'update-status',
        ...key,
        uid: own,
        body: current as unknown as JsonObject, // raw JSON
      };
    }),
    'patch status': effect(['patch daemonsets/status'], async () => {
      const current = await admin.get(`${APPS}/daemonsets/agent`);
      const { uid: own, resourceVersion } = identityOf(current);
      return {
        kind: 'update-status',
        ...key,
        uid: own,
        body: [
          { op: 'test', path: '/metadata/uid', value: own },
          { op: 'test', path: '/metadata/resourceVersion', value: resourceVersion },
          { op: 'add', path: '/status/numberAvailable', value: 0 },
        ],
      };
    }),
    'create an event': effect(['create events'], (name) =>
      Promise.resolve({ kind: 'create-event', ...DEFAULT, name, body: event(name) }),
    ),
    'count an event up': effect(['patch events'], async (name) => {
      await admin.post(EVENTS, event(`${name}-counted`));
      return { kind: 'patch-event', ...DEFAULT, name: `${name}-counted`, body: { count: 2 } };
    }),
  };
  const CONNECTING = 'get namespaces';
  /** A DaemonSet is read by its list; by a GET where the role refuses that. */
  const EITHER_OF = ['list daemonsets', 'get daemonsets'];

  before(async () => {
    controlPlane = await startControlPlane({
      loops: 'off',
      auditLog: false,
      admissionPlugins: ['OwnerReferencesPermissionEnforcement'],
    });
    admin = createApiClient(controlPlane.connectionOf('admin'));
    await applyFiles(admin, [repositoryPath('infra/functions/rbac.yaml')]);
    const kubeSystem = await pollUntil(
      { deadlineMs: 120_000, description: 'kube-system' },
      async () => {
        const found = await admin.request({
          method: 'GET',
          path: '/api/v1/namespaces/kube-system',
        });
        return found.status === 200 ? (found.body as KubernetesObject) : undefined;
      },
    );
    kubeSystemUid = kubeSystem.metadata.uid ?? '';
    await admin.post('/api/v1/namespaces/default/serviceaccounts', {
      metadata: { name: 'default' },
    });
    daemonSet = await admin.post(`${APPS}/daemonsets`, testDaemonSet({ name: 'agent' }));
    await admin.post('/api/v1/nodes', { metadata: { name: 'n-1' } });
    await admin.post(PODS, pod('agent'));
    await admin.post(`${APPS}/controllerrevisions`, revision('agent'));
    await admin.post(COPIES, copy('agent-rollcall-proven-a'));
    const leases = '/apis/coordination.k8s.io/v1/namespaces/rollcall-system/leases';
    await admin.post(leases, { metadata: { name: 'rollcall-watcher' }, spec: {} });
  });
  after(async () => {
    admin.close();
    await controlPlane.stop();
  });

  async function connect(name: string, token: string) {
    const registration: ClusterRegistration = {
      id: clusterId(name),
      clusterUid: clusterUid(kubeSystemUid),
      mode: 'takeover',
      isFrozen: false,
      configVersion: 1,
      senderRoleId: 'AROATEST',
      server: controlPlane.server,
      caPem: controlPlane.caPem,
      authentication: { kind: 'bearer', token },
      labels: {},
    };
    return connector.connect(registration);
  }

  /** Until the authorizer has read the roles of this account. */
  async function connectWhenReady(name: string, rules: Rules): Promise<ClusterAccess> {
    const token = await tokenWith(admin, name, rules);
    const { server, caPem } = controlPlane;
    const client = createApiClient({ server, caPem, token });
    await untilInForce(client, rules).finally(client.close);
    const connection = await connect(name, token);
    assert.ok(connection.kind !== 'refused', JSON.stringify(connection));
    return connection.access;
  }

  it('everything works with exactly the shipped rules', async () => {
    const access = await connectWhenReady('whole', RULES);
    for (const [what, operation] of Object.entries(OPERATIONS)) {
      assert.equal(await operation.ask('whole', access), undefined, what);
    }
  });

  for (const right of rightsOf(RULES)) {
    const missing = `${right.verb} ${right.resource}`;
    it(`without ${missing} only what needs it fails, and names it`, async () => {
      const name = nameOf(right);
      const rules = withoutRight(RULES, right);
      if (missing === CONNECTING) {
        const token = await tokenWith(admin, name, rules);
        const connection = await connect(name, token);
        assert.equal(connection.kind, 'refused');
        assert.match(JSON.stringify(connection), /cannot get resource/);
        return;
      }
      const access = await connectWhenReady(name, rules);
      const failed: string[] = [];
      for (const [what, operation] of Object.entries(OPERATIONS)) {
        const problem = await operation.ask(name, access);
        if (problem === undefined) continue;
        failed.push(what);
        assert.match(problem, /^refused: /, what);
        assert.match(
          problem,
          /cannot [a-z]+ resource|cannot set (blockOwnerDeletion|an ownerRef)/,
          what,
        );
      }
      const needing = Object.entries(OPERATIONS).filter(([, { needs }]) => needs.includes(missing));
      const isEitherOf = EITHER_OF.includes(missing);
      assert.ok(needing.length > 0 || isEitherOf, 'nothing needs it: it has to go');
      assert.deepEqual(
        failed,
        needing.map(([what]) => what),
      );
    });
  }

  it('a DaemonSet is read with either verb, but only a list tells the version of the store (row 71)', async () => {
    for (const verb of ['get', 'list']) {
      const right = rightsOf(RULES).find(
        (each) => each.resource === 'daemonsets' && each.verb !== verb,
      );
      assert.ok(right !== undefined);
      const access = await connectWhenReady(`only-${verb}`, withoutRight(RULES, right));
      const live = await access.getDaemonSet(key);
      assert.ok(live.kind === 'found', JSON.stringify(live));
      assert.equal(live.storeVersion !== undefined, verb === 'list');
    }
  });

  it('the variant for chosen namespaces gives the same rights', () => {
    const named = (path: string): readonly string[] =>
      rightsOf(readRules(path)).map(({ scope, verb, resource }) => `${scope} ${verb} ${resource}`);
    const variant = 'infra/functions/namespaces/rbac.yaml';
    assert.deepEqual(named(variant).toSorted(), named('infra/functions/rbac.yaml').toSorted());
  });

  it('what is not in the rules is denied: whatever else the API server would do for them', async () => {
    const client = createApiClient(controlPlane.connectionOf('functions'));
    const system = '/api/v1/namespaces/rollcall-system';
    const denied: readonly (readonly ['GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', string])[] = [
      ['POST', `${PODS}/agent/binding`],
      ['POST', `${PODS}/agent/eviction`],
      ['POST', `${PODS}/agent/exec?command=x`],
      ['PATCH', `${PODS}/agent/status`],
      ['PATCH', `${PODS}/agent/ephemeralcontainers`],
      ['PUT', `${PODS}/agent`],
      ['DELETE', PODS],
      ['GET', `${PODS}?watch=true`],
      ['GET', `${PODS}/agent/log`],
      ['GET', '/api/v1/nodes'],
      ['PATCH', '/api/v1/nodes/n-1'],
      ['DELETE', '/api/v1/nodes/n-1'],
      ['GET', '/api/v1/nodes/n-1/proxy/'],
      ['GET', '/api/v1/namespaces/default/secrets'],
      ['GET', `${system}/secrets/x`],
      ['GET', '/api/v1/namespaces/default/configmaps/x'],
      ['GET', '/api/v1/namespaces/default'],
      ['POST', '/api/v1/namespaces'],
      ['POST', `${system}/serviceaccounts/rollcall-watcher/token`],
      ['GET', `${EVENTS}?watch=true`],
      ['DELETE', `${EVENTS}/x`],
      ['GET', '/apis/apps/v1/daemonsets?watch=true'],
      ['POST', `${APPS}/daemonsets`],
      ['PUT', `${APPS}/daemonsets/agent`],
      ['PATCH', `${APPS}/daemonsets/agent`],
      ['DELETE', `${APPS}/daemonsets/agent`],
      ['PUT', `${APPS}/controllerrevisions/agent`],
      ['DELETE', `${APPS}/controllerrevisions`],
      ['POST', `${APPS}/deployments`],
      ['PUT', '/apis/coordination.k8s.io/v1/namespaces/rollcall-system/leases/rollcall-watcher'],
      ['DELETE', '/apis/coordination.k8s.io/v1/namespaces/rollcall-system/leases/rollcall-watcher'],
      ['GET', '/apis/coordination.k8s.io/v1/namespaces/rollcall-system/leases/other'],
      ['GET', '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/rollcall-watcher'],
      ['POST', '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings'],
      ['PATCH', '/apis/rbac.authorization.k8s.io/v1/clusterroles/rollcall-functions'],
      ['DELETE', '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/rollcall-pods'],
    ];
    for (const [method, path] of denied) {
      const body = method === 'GET' ? {} : { body: { metadata: { name: 'x' } } };
      const { status } = await client.request({ method, path, ...body });
      assert.equal(status, 403, `${method} ${path}`);
    }
    client.close();
  });

  it('the watcher can list, watch and keep its Lease, and nothing else', async () => {
    await applyFiles(admin, [repositoryPath('infra/watcher/rbac.yaml')]);
    const { cluster, namespaced } = readRules('infra/watcher/rbac.yaml');
    assert.deepEqual(
      rightsOf({ cluster, namespaced }).map(({ verb, resource }) => `${verb} ${resource}`),
      [
        ...['nodes', 'pods', 'daemonsets', 'controllerrevisions'].flatMap((resource) => [
          `list ${resource}`,
          `watch ${resource}`,
        ]),
        'get namespaces',
        'get leases',
        'update leases',
        'create leases',
      ],
    );
    const client = createApiClient(controlPlane.connectionOf('watcher'));
    await untilInForce(client, { cluster, namespaced });
    const denied = [
      ['POST', PODS],
      ['DELETE', `${PODS}/agent`],
      ['PATCH', `${PODS}/agent`],
      ['PATCH', `${APPS}/daemonsets/agent`],
      ['DELETE', `${APPS}/controllerrevisions/agent`],
      ['PATCH', '/api/v1/nodes/n-1'],
      ['GET', '/api/v1/namespaces/default'],
      ['GET', '/api/v1/namespaces/default/secrets'],
      ['POST', EVENTS],
      ['GET', '/apis/coordination.k8s.io/v1/namespaces/rollcall-system/leases/other'],
      ['POST', '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases'],
      ['DELETE', '/apis/coordination.k8s.io/v1/namespaces/rollcall-system/leases/rollcall-watcher'],
      ['PUT', '/apis/coordination.k8s.io/v1/namespaces/rollcall-system/leases/other'],
    ] as const;
    for (const [method, path] of denied) {
      const body = method === 'GET' ? {} : { body: { metadata: { name: 'x' } } };
      const { status } = await client.request({ method, path, ...body });
      assert.equal(status, 403, `${method} ${path}`);
    }
    client.close();
  });
});

function nameOf({ rule, verb, resource }: Right): string {
  return `without-${verb}-${resource.replace('/', '-')}-${String(rule)}`;
}

function problemOf(outcome: Outcome | undefined): string | undefined {
  if (outcome?.kind === 'done') return undefined;
  return `${outcome?.kind ?? 'nothing'}: ${JSON.stringify(outcome)}`;
}
