/**
 * `rollcall cluster doctor` on a local cluster that is managed by the deployed handlers: in health nothing has failed;
 * then each link is broken in turn, and the finding that names it appears, and no other failure.
 */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Finding } from '../../../src/app/checks/finding.ts';
import { clusterUid } from '../../../src/core/model/identifiers.ts';
import type { JsonObject } from '@rollcall/base/json.ts';
import { collectionPath } from '../../../src/engine/apply-manifests.ts';
import { fleetDocument } from '../../support/fleet-samples.ts';
import type { Breakage } from '../../support/engine-commands.ts';
import { makeTestCertificate } from '../../support/test-certificate.ts';
import { DoctorStage } from './doctor-stage.ts';

const FLEET = { namespace: 'default', name: 'fleet-agent' };
const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const LEASE = '/apis/coordination.k8s.io/v1/namespaces/rollcall-system/leases/rollcall-watcher';
const SENTINEL = '/apis/apps/v1/namespaces/rollcall-system/daemonsets/rollcall-takeover-probe';

const failures = (findings: readonly Finding[]): readonly string[] =>
  findings.filter(({ level }) => level === 'failed').map(({ code }) => code);

describe('cluster doctor on a managed local cluster', () => {
  let stage: DoctorStage;
  before(async () => {
    stage = await DoctorStage.open();
  });
  after(() => stage.close());

  it('finds no failure in health, and says what it could not look at', async () => {
    const troubles = await stage.troubles();
    assert.deepEqual(failures(troubles), [], JSON.stringify(troubles, undefined, 1));
    const unknown = troubles.map(({ link }) => link);
    assert.deepEqual(unknown, ['watcher-rights', 'admission', 'watcher', 'issuer', 'sender']);
    const { stdout } = await stage.run(['cluster', 'doctor', stage.id]);
    assert.match(stdout, /ok +functions-rights +all \d+ rights are there/);
    assert.match(stdout, /ok +identity +kube-system has the registered UID/);
    assert.doesNotMatch(stdout, /eyJ/, 'no token (S11)');
  });

  it('looks into the cluster with the user’s own credential', async () => {
    const troubles = await stage.troubles({}, '--kubeconfig', stage.kubeconfigFile);
    assert.deepEqual(
      troubles.map(({ code }) => code),
      ['admission-missing', 'watcher-not-installed', 'issuer-unchecked', 'sender-unchecked'],
      'the watcher runs in the engine, and holds its Lease: a warning only',
    );
    assert.deepEqual(failures(troubles), []);
  });

  it('finds the context of a cluster by its server in the files of KUBECONFIG', async () => {
    const other = path.join(path.dirname(stage.kubeconfigFile), 'other');
    await writeFile(
      other,
      JSON.stringify({
        'current-context': 'elsewhere',
        contexts: [{ name: 'elsewhere', context: { cluster: 'elsewhere' } }],
        clusters: [{ name: 'elsewhere', cluster: { server: 'https://127.0.0.1:1' } }],
        users: [],
      }),
    );
    try {
      stage.environment = { KUBECONFIG: [other, stage.kubeconfigFile].join(path.delimiter) };
      const codes = (await stage.troubles()).map(({ code }) => code);
      assert.deepEqual(codes, [
        'admission-missing',
        'watcher-not-installed',
        'issuer-unchecked',
        'sender-unchecked',
      ]);
      stage.environment = { KUBECONFIG: other };
      const admission = (await stage.troubles()).find(({ link }) => link === 'admission');
      assert.match(admission?.seen ?? '', /^no context of .*other has the server https:/);
    } finally {
      stage.environment = {};
    }
  });

  const cases: readonly {
    readonly code: string;
    readonly breakage: () => Breakage | Promise<Breakage>;
    readonly level?: Finding['level'];
  }[] = [
    {
      code: 'tls-untrusted',
      breakage: async () => ({
        registration: { caPem: makeTestCertificate().certificatePem },
      }),
    },
    {
      code: 'cluster-rebuilt',
      breakage: () => ({ registration: { clusterUid: clusterUid('another') } }),
    },
    {
      code: 'credential-refused',
      breakage: () => ({ registration: { authentication: { kind: 'bearer', token: 'expired' } } }),
    },
    {
      code: 'credential-missing',
      breakage: () => ({
        registration: { authentication: { kind: 'bound-token', renewerRoleId: 'AROA2' } },
      }),
    },
    {
      code: 'connection-failed',
      breakage: () => ({ registration: { server: 'https://127.0.0.1:1025' } }),
    },
    {
      code: 'address-refused',
      breakage: () => ({ registration: { server: 'https://169.254.169.254' } }),
    },
    {
      code: 'name-unresolved',
      breakage: () => ({ registration: { server: 'https://nowhere.invalid' } }),
    },
    {
      code: 'events-queue-missing',
      breakage: () => ({
        outputs: {
          EventsQueueUrl: stage
            .openStack()
            .outputs.EventsQueueUrl.replace('events.fifo', 'gone.fifo'),
        },
      }),
    },
    {
      code: 'deployment-other-release',
      level: 'warning',
      breakage: () => ({ outputs: { Release: '0.0.1' } }),
    },
  ];
  for (const { code, breakage, level = 'failed' } of cases) {
    it(`finds ${code}`, async () => {
      const troubles = await stage.troubles(await breakage());
      const one = troubles.find((finding) => finding.code === code);
      assert.equal(one?.level, level, JSON.stringify(troubles, undefined, 1));
      assert.deepEqual(failures(troubles), level === 'failed' ? [code] : []);
    });
  }

  it('finds a right that is missing, by its verb', async () => {
    const path = `${RBAC}/clusterroles/rollcall-functions`;
    const read = await stage.admin.send({ method: 'GET', path });
    assert.ok(read.kind === 'answered' && read.status === 200);
    const role = read.body as JsonObject & { readonly rules: readonly JsonObject[] };
    const rules = role.rules.map((rule) =>
      (rule['resources'] as readonly string[]).includes('daemonsets/status')
        ? { ...rule, verbs: ['get'] }
        : rule,
    );
    const put = async (rulesNow: readonly JsonObject[]): Promise<void> => {
      const body = JSON.stringify([{ op: 'replace', path: '/rules', value: rulesNow }]);
      const contentType = 'application/json-patch+json';
      const answer = await stage.admin.send({ method: 'PATCH', path, body, contentType });
      assert.ok(answer.kind === 'answered' && answer.status === 200, JSON.stringify(answer));
    };
    await put(rules);
    try {
      const troubles = await stage.troubles();
      assert.deepEqual(failures(troubles), ['functions-rights-missing']);
      const seen = troubles.map((finding) => finding.seen).join();
      assert.match(
        seen,
        /2 of \d+ rights are missing: update apps daemonsets\/status; patch apps daemonsets\/status/,
      );
    } finally {
      await put(role.rules);
    }
    assert.deepEqual(failures(await stage.troubles()), []);
  });

  it('finds what a fleet lacks, until what rollcall fleet rights prints is there (issue 18)', async () => {
    const file = path.join(path.dirname(stage.kubeconfigFile), 'fleet.json');
    await writeFile(file, JSON.stringify({ ...fleetDocument(), metadata: FLEET }));
    const apply = ['fleet', 'apply', '--no-server-check', '-f', file];
    assert.equal((await stage.run(apply)).exitCode, 0);
    const troubles = await stage.troubles();
    assert.deepEqual(failures(troubles), ['fleets-rights-missing']);
    const { seen, next } = troubles.find(({ link }) => link === 'fleets') ?? {};
    assert.match(seen ?? '', /3 of 3 rights.*create apps daemonsets.*patch apps daemonsets/);
    assert.match(next ?? '', /^rollcall fleet rights local-1 \|/);
    const printed = await stage.run(['fleet', 'rights', stage.id, '--json']);
    const { manifests } = JSON.parse(printed.stdout) as { readonly manifests: JsonObject[] };
    for (const manifest of manifests) {
      const body = JSON.stringify(manifest);
      const answer = await stage.admin.send({
        method: 'POST',
        path: collectionPath(manifest),
        body,
      });
      assert.ok(answer.kind === 'answered' && answer.status === 201, JSON.stringify(answer));
    }
    const seenNow = await stage.troubles({}, '--kubeconfig', stage.kubeconfigFile);
    assert.deepEqual(failures(seenNow), []);
    assert.ok(!seenNow.some(({ code }) => /^fleets-(rights|unbounded)/.test(code)));
    const { namespace, name } = FLEET;
    assert.equal((await stage.run(['fleet', 'delete', `${namespace}/${name}`])).exitCode, 0);
  });

  it('row 90: finds messages of a rebuilt cluster, and who else claims to be this one', async () => {
    const { registry } = stage.engine;
    const atMs = Date.now() + 60_000;
    const note = { queue: 'ingest', cluster: stage.id, senderRoleId: 'AROA9', atMs } as const;
    await registry.noteRefusal({
      ...note,
      sender: 'verified',
      code: 'wrong-cluster-uid',
      detail: 'uid-2',
    });
    await registry.noteRefusal({
      ...note,
      sender: 'unverified',
      code: 'wrong-sender',
      detail: '',
    });
    const troubles = await stage.troubles();
    assert.deepEqual(failures(troubles), ['refused-wrong-cluster-uid', 'refused-wrong-sender']);
    assert.match(troubles.map(({ seen }) => seen).join(), /uid-2.*AROA9/);
    const later = await stage.troubles({ meta: { lastSentAtMs: atMs + 1 } });
    assert.deepEqual(failures(later), [], 'heard since');
  });

  it('finds a sentinel that another controller has touched (row 58)', async () => {
    const status = { status: { observedGeneration: 1 } };
    const answer = await stage.admin.send({
      method: 'PATCH',
      path: `${SENTINEL}/status`,
      contentType: 'application/merge-patch+json',
      body: JSON.stringify(status),
    });
    assert.ok(answer.kind === 'answered' && answer.status === 200, JSON.stringify(answer));
    const found = failures(await stage.troubles());
    // The engine may have noted it already.
    const isFound = found.includes('sentinel-touched') || found.includes('conflict-noted');
    assert.ok(isFound, found.join());
  });

  it('finds a Lease that is gone', async () => {
    const removed = await stage.admin.send({ method: 'DELETE', path: LEASE });
    assert.ok(removed.kind === 'answered' && removed.status === 200);
    // The watcher takes it again when it renews next.
    assert.ok(failures(await stage.troubles()).includes('lease-missing'));
  });
});
