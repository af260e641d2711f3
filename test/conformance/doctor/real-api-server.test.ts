/**
 * The doctor's looks into a cluster on a real API server: reviews of rights by name, Lease, Deployment, policies,
 * certificates. The stack is in memory; what is asked of it is another test's matter (test/integration/doctor).
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { createClusterInspection } from '../../../src/adapters/kubernetes/operator/cluster-inspection.ts';
import { HttpsTransport } from '../../../src/adapters/kubernetes/transport/transport.ts';
import { parseEndpoint } from '../../../src/adapters/kubernetes/egress/endpoint.ts';
import { staticBearer } from '../../../src/adapters/kubernetes/credentials/token-source.ts';
import { createSystemClock } from '@rollcall/base/system/system-clock.ts';
import type { Finding } from '../../../src/app/checks/finding.ts';
import { examine as examineCluster, openExamination } from '../../../src/cli/checks/doctor.ts';
import type { WayIn } from '../../../src/cli/checks/ways-in.ts';
import { clusterId, clusterUid, uid } from '../../../src/core/model/identifiers.ts';
import type { JsonObject } from '@rollcall/base/json.ts';
import { ZERO_STAMP } from '../../../src/core/model/position.ts';
import type { ClusterRegistration } from '../../../src/core/model/registration.ts';
import { CommandWorld } from '../../support/command-world.ts';
import { registrationOf } from '../../support/store-suite.ts';
import { createApiClient, type ApiClient } from '../control-plane/api.ts';
import { startControlPlane, type ControlPlane } from '../control-plane/control-plane.ts';
import { pollUntil } from '../control-plane/poll.ts';
import { applyFiles } from '../scenarios/manifests.ts';
import { repositoryPath } from '../scenarios/repository.ts';
import { readRules, tokenWith, untilInForce } from '../rights/rbac-rules.ts';

const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const clock = createSystemClock({ timers: 'unreferenced' });

describe('the doctor on a real API server', { timeout: 900_000 }, () => {
  const world = new CommandWorld();
  let controlPlane: ControlPlane;
  let admin: ApiClient;
  let registration: ClusterRegistration;

  before(async () => {
    controlPlane = await startControlPlane({ loops: 'off', auditLog: false });
    const access = controlPlane;
    admin = createApiClient(access.connectionOf('admin'));
    await applyFiles(
      admin,
      ['infra/functions/rbac.yaml', 'infra/watcher/rbac.yaml', 'infra/admission/policy.yaml'].map(
        repositoryPath,
      ),
    );
    const rules = readRules('infra/functions/rbac.yaml');
    const token = await tokenWith(admin, 'stand-in', rules);
    const standIn = createApiClient({ server: access.server, caPem: access.caPem, token });
    await untilInForce(standIn, rules).finally(standIn.close);
    for (const actor of ['functions', 'watcher'] as const) {
      const client = createApiClient(access.connectionOf(actor));
      const shipped = readRules(`infra/${actor}/rbac.yaml`);
      await untilInForce(client, shipped).finally(client.close);
    }
    const kubeSystem = await admin.get('/api/v1/namespaces/kube-system');
    registration = {
      ...registrationOf('c1'),
      id: clusterId('c1'),
      clusterUid: clusterUid((kubeSystem['metadata'] as { readonly uid: string }).uid),
      mode: 'takeover',
      takeoverProbedAtMs: 1,
      server: access.server,
      caPem: access.caPem,
      authentication: { kind: 'bearer', token },
    };
    const { view } = world.stores();
    const name = { namespace: 'agents', name: 'a', uid: uid('a'), stamp: ZERO_STAMP };
    await view.writeName(registration.clusterUid, name);
  });
  after(async () => {
    admin.close();
    await controlPlane.stop();
  });

  const asAdmin = (): WayIn => {
    const access = controlPlane;
    const parsed = parseEndpoint(access.server);
    assert.ok(parsed.kind === 'endpoint');
    const transport = new HttpsTransport({
      endpoint: parsed.endpoint,
      caPem: access.caPem,
      credential: staticBearer(access.tokens.admin),
      clock,
    });
    return { inspection: createClusterInspection(transport) };
  };

  async function examine(
    changes: Partial<ClusterRegistration> = {},
    kubeconfig = asAdmin(),
  ): Promise<ReadonlyMap<string, Finding>> {
    world.stores().registry.seed({ ...registration, ...changes });
    const stack = { ...world.open({ stage: 'dev' }), stage: 'local', clock };
    try {
      const egress = { loopback: 'allowed' } as const;
      const openKubeconfig = () => Promise.resolve(kubeconfig);
      const question = { stack, egress, openKubeconfig, ...openExamination(stack) };
      const findings = await examineCluster(registration.id, question);
      return new Map(findings.map((finding) => [finding.link, finding]));
    } finally {
      stack.close();
    }
  }

  /** Examines until this is said of the functions' rights: the authorizer learns of a change a moment later. */
  async function examineRightsUntil(
    code: Finding['code'],
    changes: Partial<ClusterRegistration>,
  ): Promise<Finding> {
    let said: Finding | undefined;
    await pollUntil({ deadlineMs: 60_000, description: code }, async () => {
      said = (await examine(changes)).get('functions-rights');
      return said?.code === code ? true : undefined;
    }).catch((cause: unknown) => {
      throw new Error(`${code}, not ${JSON.stringify(said)}`, { cause });
    });
    assert.ok(said !== undefined);
    return said;
  }

  const codesOf = (
    findings: ReadonlyMap<string, Finding>,
    links: readonly string[],
  ): readonly (string | undefined)[] => links.map((link) => findings.get(link)?.code);

  it('finds address, certificate, identity, credential and rights in order', async (context) => {
    const links = [
      ...['address', 'connection', 'tls', 'api-server', 'identity', 'credential'],
      ...['functions-rights', 'watcher-rights', 'admission', 'clock'],
    ];
    const allOk = links.map((link) => `${link}-ok`);
    let findings = await examine();
    // A machine that stalls within a request has a clock that is 5 s off, or an API server that times out: once, and told.
    if (!isDeepStrictEqual(codesOf(findings, links), allOk)) {
      const wrong = [...findings.values()].filter(({ level }) => level !== 'ok');
      context.diagnostic(`examined again: ${JSON.stringify(wrong)}`);
      findings = await examine();
    }
    const text = JSON.stringify([...findings.values()], undefined, 1);
    assert.deepEqual(codesOf(findings, links), allOk, text);
    assert.equal(findings.get('lease')?.code, 'lease-missing', 'no watcher runs here');
    assert.equal(findings.get('watcher')?.code, 'watcher-not-installed');
  });

  it('reviews the rights of the functions’ own identity where their credential is theirs alone', async () => {
    const eks = { kind: 'eks', clusterName: 'c', region: 'eu-west-1' } as const;
    const findings = await examine({ authentication: eks });
    assert.equal(findings.get('address')?.code, 'address-refused', 'no host of EKS');
    assert.equal(findings.get('credential')?.level, 'unknown');
    assert.equal(findings.get('identity')?.code, 'identity-ok', 'by the kubeconfig');
    assert.equal(findings.get('functions-rights')?.code, 'functions-rights-missing');
    const bound = { kind: 'bound-token', renewerRoleId: 'AROA2' } as const;
    const other = await examine({ authentication: bound });
    assert.equal(other.get('functions-rights')?.code, 'functions-rights-ok', 'the shipped account');
    assert.equal(other.get('credential')?.code, 'credential-missing');
    assert.equal(other.get('requests-rights')?.code, 'requests-rights-missing', 'not applied yet');
    await applyFiles(admin, [repositoryPath('infra/functions/requests/rbac.yaml')]);
    // An authorizer sees a role a moment later.
    await pollUntil({ deadlineMs: 60_000, description: 'rights to ask' }, async () => {
      const found = (await examine({ authentication: bound })).get('requests-rights');
      return found?.code === 'requests-rights-ok' ? true : undefined;
    });
  });

  it('finds a token that is not accepted, and one with other rights', async () => {
    const findings = await examine({ authentication: { kind: 'bearer', token: 'nonsense' } });
    assert.equal(findings.get('credential')?.code, 'credential-refused');
    const observer = { kind: 'bearer', token: controlPlane.tokens.observer } as const;
    const weak = await examine({ authentication: observer });
    assert.equal(weak.get('functions-rights')?.level, 'failed', JSON.stringify([...weak.values()]));
  });

  it('tells rights by namespace from rights that are missing', async () => {
    const path = `${RBAC}/clusterrolebindings/rollcall-functions`;
    await admin.request({ method: 'DELETE', path });
    const bound = { kind: 'bound-token', renewerRoleId: 'AROA2' } as const;
    await examineRightsUntil('functions-rights-missing', { authentication: bound });
    for (const namespace of ['agents', 'others']) {
      await admin.request({
        method: 'POST',
        path: '/api/v1/namespaces',
        body: { metadata: { name: namespace } },
      });
    }
    const account = {
      kind: 'ServiceAccount',
      name: 'rollcall-functions',
      namespace: 'rollcall-system',
    };
    const bind = (kind: string, roleName: string): JsonObject => ({
      metadata: { name: `test-${roleName}` },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind, name: roleName },
      subjects: [account],
    });
    await admin.post(`${RBAC}/clusterroles`, {
      metadata: { name: 'outside-of-namespaces' },
      rules: [
        { apiGroups: [''], resources: ['nodes', 'namespaces'], verbs: ['get'] },
        { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['get', 'patch'] },
      ],
    });
    await admin.post(`${RBAC}/clusterrolebindings`, bind('ClusterRole', 'outside-of-namespaces'));
    await admin.post(
      `${RBAC}/namespaces/agents/rolebindings`,
      bind('ClusterRole', 'rollcall-functions'),
    );
    // All that is needed.
    await examineRightsUntil('functions-rights-ok', { authentication: bound });
    const { view } = world.stores();
    const name = { namespace: 'others', name: 'b', uid: uid('b'), stamp: ZERO_STAMP };
    await view.writeName(registration.clusterUid, name);
    const found = await examineRightsUntil('functions-rights-by-namespace', {
      authentication: bound,
    });
    assert.match(found.seen, /others/);
  });
});
