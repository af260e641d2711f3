/**
 * What the functions may do with DaemonSets of fleets on a real API server, as `rollcall fleet rights` prints it: those that
 * are named, created and changed by apply, in either mode, whatever shipped file is applied again (ADR 0066).
 *
 * Files are applied as people do it, by a client-side `kubectl apply`: its three-way merge takes away what a file no longer has.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { stringify } from 'yaml';
import { fleetFence, powersOf } from '../../../src/cli/fleet/fleet-fence.ts';
import { fleetNames, fleetRights } from '../../../src/cli/fleet/fleet-manifests.ts';
import type { Manifest } from '../../../src/cli/fleet/fleet-manifests.ts';
import { skipWithoutTools, TOOLS } from '../../support/require-tool.ts';
import { createApiClient } from '../control-plane/api.ts';
import type { ApiClient, ApiResponse } from '../control-plane/api.ts';
import { startControlPlane } from '../control-plane/control-plane.ts';
import { pollUntil } from '../control-plane/poll.ts';
import { bindKubectl } from '../kubectl/kubectl.ts';
import type { Kubectl } from '../kubectl/kubectl.ts';
import { repositoryPath } from '../scenarios/repository.ts';
import { messageOf } from './admission-stage.ts';

const SETS = '/apis/apps/v1/namespaces/default/daemonsets';
const PODS = '/api/v1/namespaces/default/pods';
const FLEETS = fleetNames(['default/agent', 'default/second']);
const TAKEOVER = ['-k', repositoryPath('infra/overlays/functions/takeover')];
const COPILOT = ['-k', repositoryPath('infra/overlays/functions/copilot')];

function daemonSet(name: string, pod: string | object): object {
  const spec = typeof pod === 'string' ? { containers: [{ name: 'x', image: pod }] } : pod;
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name, namespace: 'default' },
    spec: {
      updateStrategy: { type: 'OnDelete' },
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name } },
        spec,
      },
    },
  };
}

describe('rights over DaemonSets of fleets', { skip: skipWithoutTools([TOOLS.go]) }, () => {
  let stop: () => Promise<void>;
  let admin: ApiClient;
  let functions: ApiClient;
  let kubectl: Kubectl;

  before(async () => {
    const controlPlane = await startControlPlane({ name: 'fleets', loops: 'off', auditLog: false });
    const cacheDirectory = mkdtempSync(join(tmpdir(), 'rollcall-kubectl-'));
    stop = async () => {
      await controlPlane.stop();
      rmSync(cacheDirectory, { recursive: true });
    };
    admin = createApiClient(controlPlane.connectionOf('admin'));
    functions = createApiClient(controlPlane.connectionOf('functions'));
    const { kubectlPath: program, kubeconfigPath } = controlPlane;
    kubectl = bindKubectl({ program, kubeconfigPath, cacheDirectory });
    await admin.post('/api/v1/namespaces/default/serviceaccounts', {
      metadata: { name: 'default' },
    });
    await kubectl.succeed(['apply', ...TAKEOVER]);
    await install(fleetRights(FLEETS));
    await inForce();
  });
  after(async () => {
    admin.close();
    functions.close();
    await stop();
  });

  async function install(manifests: readonly Manifest[]): Promise<void> {
    const input = manifests.map((manifest) => stringify(manifest)).join('---\n');
    await kubectl.succeed('apply -f -', { input });
  }

  let markers = 0;
  /** Policies are known in the order in which they were written: once the newest denies, all before it are in force. */
  async function inForce(): Promise<void> {
    markers += 1;
    const name = `marker-${String(markers)}`;
    await install(markerOf(name));
    const path = '/api/v1/namespaces/default/configmaps?dryRun=All';
    await pollUntil({ deadlineMs: 60_000, description: name }, async () => {
      const { status } = await admin.request({
        method: 'POST',
        path,
        body: { metadata: { name } },
      });
      return status === 422 ? true : undefined;
    });
  }

  const send = (name: string, image: string): Promise<ApiResponse> =>
    functions.request({
      method: 'PATCH',
      path: `${SETS}/${name}?fieldManager=rollcall&fieldValidation=Strict`,
      contentType: 'application/apply-patch+yaml',
      body: daemonSet(name, image),
    });
  const apply = async (name: string, image: string): Promise<number> =>
    (await send(name, image)).status;
  const merge = async (name: string, body: object): Promise<number> => {
    const path = `${SETS}/${name}?fieldManager=rollcall&dryRun=All`;
    return (await functions.request({ method: 'PATCH', path, body })).status;
  };
  const post = (metadata: object): Promise<ApiResponse> =>
    functions.request({
      method: 'POST',
      path: `${SETS}?dryRun=All`,
      body: { ...daemonSet('other', 'i:1'), metadata },
    });

  /** As an access entry of EKS names its user, who is no service account. */
  async function applyOnEks(name: string): Promise<string> {
    const { stdout, stderr } = await kubectl.run(
      'apply --server-side --dry-run=server --validate=false --field-manager=rollcall ' +
        '--as=rollcall-functions --as-group=system:authenticated -f -',
      { input: stringify(daemonSet(name, 'i:eks')) },
    );
    return stdout + stderr;
  }

  /** Roles are known a moment after they were written. */
  async function until(ask: () => Promise<number>, status: number): Promise<void> {
    const description = `an answer of ${String(status)}`;
    await pollUntil({ deadlineMs: 60_000, description }, async () =>
      (await ask()) === status ? true : undefined,
    );
  }

  it('creates and changes those that are named, and no other', async () => {
    await until(() => apply('agent', 'i:1'), 201);
    assert.equal(await apply('agent', 'i:2'), 200);
    assert.equal(await apply('other', 'i:1'), 403);
    const path = `${SETS}/agent`;
    assert.equal((await functions.request({ method: 'DELETE', path })).status, 403);
  });

  it('creates no other by POST, which RBAC would allow, under no name either', async () => {
    for (const metadata of [{ name: 'other' }, { generateName: 'agent' }]) {
      const answer = await post(metadata);
      assert.equal(answer.status, 422, messageOf(answer));
      assert.match(messageOf(answer), /'rollcall-status'/);
    }
    assert.equal((await post({ name: 'second' })).status, 201);
  });

  it('is the same for the user of an EKS access entry', async () => {
    assert.match(await applyOnEks('agent'), /serverside-applied/);
    assert.match(await applyOnEks('other'), /Forbidden|forbidden/);
  });

  for (const [missing, name, status] of [
    ['create', 'second', 403],
    ['patch', 'agent', 403],
    ['roll-out', 'agent', 422],
  ] as const) {
    it(`cannot without ${missing}`, async () => {
      const [role, ...rest] = fleetRights(FLEETS);
      const { rules } = role as { readonly rules: readonly { readonly verbs: string[] }[] };
      const less = rules.map((rule) => ({
        ...rule,
        verbs: rule.verbs.filter((verb) => verb !== missing),
      }));
      await install([{ ...role, rules: less.filter(({ verbs }) => verbs.length > 0) }, ...rest]);
      await until(() => apply(name, 'i:3'), status);
      await install(fleetRights(FLEETS));
      await until(() => apply('agent', 'i:2'), 200);
    });
  }

  it('keeps them when the policies of takeover are applied again', async () => {
    await kubectl.succeed(['apply', '-f', repositoryPath('infra/admission/policy.yaml')]);
    await kubectl.succeed(['apply', ...TAKEOVER]);
    await inForce();
    const answer = await send('agent', 'i:4');
    assert.equal(answer.status, 200, messageOf(answer));
  });

  it('keeps them in copilot, when its policies are applied again, and for nothing besides', async () => {
    await kubectl.succeed(['delete', '-f', repositoryPath('infra/admission/policy.yaml')]);
    for (const _time of ['once', 'again']) {
      await kubectl.succeed(['apply', ...COPILOT]);
      await inForce();
      const answer = await send('agent', 'i:5');
      assert.equal(answer.status, 200, messageOf(answer));
      assert.equal(await merge('agent', { spec: { minReadySeconds: 7 } }), 200);
      assert.equal((await post({ name: 'other' })).status, 422);
    }
  });

  it('lets pods of those go in copilot, and of no other', async () => {
    const own = await deletePod('agent');
    assert.equal(own.status, 200, messageOf(own));
    const other = await deletePod('other');
    assert.equal(other.status, 422, messageOf(other));
    assert.match(messageOf(other), /rollcall-copilot-listed/);
  });

  it('keeps them when the cluster goes from copilot to takeover', async () => {
    const files = ['admission', 'listed'].map((file) =>
      repositoryPath(`infra/copilot/${file}.yaml`),
    );
    await kubectl.succeed(['delete', ...files.flatMap((file) => ['-f', file])]);
    await kubectl.succeed(['apply', ...TAKEOVER]);
    await inForce();
    const answer = await send('agent', 'i:6');
    assert.equal(answer.status, 200, messageOf(answer));
    assert.equal((await post({ name: 'other' })).status, 422);
  });

  describe('behind the fence', () => {
    const host = { name: 'host', hostPath: { path: '/var/log' } };
    const mount = { name: 'host', mountPath: '/host' };
    const podSpec = {
      serviceAccountName: 'agent',
      hostPID: true,
      volumes: [host, { name: 'key', secret: { secretName: 'agent-key' } }],
      initContainers: [{ name: 'first', image: 'i:1', securityContext: { privileged: true } }],
      containers: [
        {
          ...{ name: 'x', image: 'i:1', volumeMounts: [{ ...mount, readOnly: true }] },
          securityContext: { capabilities: { add: ['NET_ADMIN'], drop: ['ALL'] } },
        },
      ],
    };
    const tame = {
      serviceAccountName: 'agent',
      hostUsers: false,
      securityContext: { runAsNonRoot: true },
      containers: [
        { name: 'x', image: 'i:1', securityContext: { allowPrivilegeEscalation: false } },
      ],
    };
    const container = podSpec.containers[0];
    const patch = (name: string, spec: object): Promise<ApiResponse> =>
      functions.request({
        method: 'PATCH',
        path: `${SETS}/${name}?fieldManager=rollcall&fieldValidation=Strict&dryRun=All&force=true`,
        contentType: 'application/apply-patch+yaml',
        body: daemonSet(name, spec),
      });
    const accepted = async (name: string, spec: object): Promise<void> => {
      const answer = await patch(name, spec);
      assert.ok(answer.status < 300, messageOf(answer));
    };
    const refused = async (name: string, spec: object, what: string): Promise<void> => {
      const answer = await patch(name, spec);
      assert.equal(answer.status, 422, `${name}: ${what}: ${messageOf(answer)}`);
      assert.match(messageOf(answer), /'rollcall-fleet-fence'.*rollcall fleet rights --fence/);
      assert.ok(messageOf(answer).includes(`: ${what} is not among`), messageOf(answer));
    };
    /** `agent` is changed; `second` is not there, so it is created. */
    const BOTH = ['agent', 'second'];

    before(async () => {
      const printed = new Map(BOTH.map((name) => [`default/${name}`, powersOf(podSpec)]));
      const fence = fleetFence(printed);
      await install([
        ...fleetRights(fleetNames(['default/agent', 'default/second', 'default/unknown'])),
        ...fence,
      ]);
      await inForce();
      await until(async () => (await patch('second', podSpec)).status, 201);
    });

    it('another image, environment, argument and resource pass', async () => {
      const more = { args: ['-v'], env: [{ name: 'A', value: 'b' }] };
      const changed = { ...container, ...more, image: 'i:2', resources: { limits: { cpu: '1' } } };
      for (const name of BOTH) {
        await accepted(name, podSpec);
        await accepted(name, { ...podSpec, containers: [changed] });
      }
    });

    it('less than was printed passes', async () => {
      const { containers, ...less } = tame;
      for (const name of BOTH) await accepted(name, { ...less, containers });
    });

    const also = (changes: object): object => ({
      ...podSpec,
      containers: [{ ...container, ...changes }],
    });
    const env = { name: 'A', valueFrom: { secretKeyRef: { name: 'other', key: 'k' } } };
    const source = { secret: { name: 'other' } };
    const MORE: Readonly<Record<string, readonly [spec: object, what: string]>> = {
      serviceAccountName: [{ ...podSpec, serviceAccountName: 'admin' }, 'serviceAccountName'],
      'the default account': [{ ...podSpec, serviceAccountName: null }, 'serviceAccountName'],
      hostNetwork: [{ ...podSpec, hostNetwork: true }, 'a host namespace'],
      hostIPC: [{ ...podSpec, hostIPC: true }, 'a host namespace'],
      'one more hostPath': [
        { ...podSpec, volumes: [host, { name: 'root', hostPath: { path: '/' } }] },
        'a hostPath',
      ],
      'another hostPath': [
        { ...podSpec, volumes: [{ name: 'host', hostPath: { path: '/var/logs' } }] },
        'a hostPath',
      ],
      'a hostPath that is written to': [
        also({ volumeMounts: [mount] }),
        'a hostPath that is mounted to write',
      ],
      'a network file system': [
        { ...podSpec, volumes: [host, { name: 'n', nfs: { server: 'a', path: '/' } }] },
        'a volume of this kind',
      ],
      'one more capability': [
        also({ securityContext: { capabilities: { add: ['SYS_ADMIN'] } } }),
        'a capability',
      ],
      'a Secret as a volume': [
        { ...podSpec, volumes: [host, { name: 's', secret: { secretName: 'other' } }] },
        'a Secret',
      ],
      'a Secret among others': [
        { ...podSpec, volumes: [host, { name: 's', projected: { sources: [source] } }] },
        'a Secret',
      ],
      'a Secret in a variable': [also({ env: [env] }), 'a Secret'],
      'a Secret in all variables': [
        also({ envFrom: [{ secretRef: { name: 'other' } }] }),
        'a Secret',
      ],
    };
    for (const [title, [spec, what]] of Object.entries(MORE)) {
      it(`${title} is refused, created and changed`, async () => {
        for (const name of BOTH) await refused(name, spec, what);
      });
    }

    it('one that has the right, and was not printed with the fence, is refused', async () => {
      await until(async () => (await patch('unknown', tame)).status, 422);
      await refused('unknown', tame, 'the DaemonSet');
    });

    it('of containers that are held, none may be privileged, escalate or be root', async () => {
      await install(fleetFence(new Map(BOTH.map((name) => [`default/${name}`, powersOf(tame)]))));
      await inForce();
      const [only] = tame.containers;
      const securityContexts = [
        [{ allowPrivilegeEscalation: true }, 'allowPrivilegeEscalation'],
        [{ allowPrivilegeEscalation: false, runAsNonRoot: false }, 'a user that may be root'],
        [{ privileged: true }, 'privileged'],
      ] as const;
      for (const name of BOTH) {
        await accepted(name, tame);
        for (const [securityContext, what] of securityContexts) {
          const changed = { ...only, securityContext };
          await refused(name, { ...tame, containers: [changed] }, what);
          const first = { ...changed, name: 'first' };
          await refused(name, { ...tame, initContainers: [first] }, what);
        }
        await refused(name, { ...tame, hostUsers: null }, 'a host namespace');
      }
    });
  });

  it('loses them with the Role', async () => {
    await kubectl.succeed('delete role,rolebinding rollcall-fleets');
    await until(() => apply('agent', 'i:7'), 403);
  });

  /** A dry run, with what copilot asks of a delete. */
  async function deletePod(owner: string): Promise<ApiResponse> {
    if ((await admin.request({ method: 'GET', path: `${SETS}/${owner}` })).status === 404) {
      await admin.post(SETS, daemonSet(owner, 'i:1'));
    }
    const { uid } = (await admin.get(`${SETS}/${owner}`)).metadata;
    const reference = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: owner, uid };
    const pod = await admin.post(PODS, {
      metadata: {
        generateName: `${owner}-`,
        ownerReferences: [{ ...reference, controller: true }],
      },
      spec: { containers: [{ name: 'x', image: 'i:1' }] },
    });
    const { name, uid: podUid, resourceVersion } = pod.metadata;
    const body = { dryRun: ['All'], preconditions: { uid: podUid, resourceVersion } };
    const path = `${PODS}/${name}`;
    return functions.request({ method: 'DELETE', path, body });
  }
});

/** A policy that refuses a ConfigMap of this name, and its binding. */
function markerOf(name: string): readonly Manifest[] {
  const apiVersion = 'admissionregistration.k8s.io/v1';
  const rule = {
    apiGroups: [''],
    apiVersions: ['*'],
    resources: ['configmaps'],
    operations: ['CREATE'],
  };
  const validations = [{ expression: `object.metadata.name != '${name}'` }];
  return [
    {
      apiVersion,
      kind: 'ValidatingAdmissionPolicy',
      metadata: { name },
      spec: { matchConstraints: { resourceRules: [rule] }, validations },
    },
    {
      apiVersion,
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata: { name },
      spec: { policyName: name, validationActions: ['Deny'] },
    },
  ];
}
