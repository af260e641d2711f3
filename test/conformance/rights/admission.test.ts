/**
 * infra/admission/policy.yaml on a real API server: what Rollcall makes passes, and whoever holds its
 * credential can create nothing that a DaemonSet does not say (faults §5, row 69; S5, S6).
 *
 * The API server runs alone: nothing collects, schedules or runs what a test creates. Creates are dry
 * runs where nothing needs to stay; admission is the same.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { JsonObject } from '@rollcall/base/json.ts';
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import { listedPolicy, readDaemonSetList } from '../../../scripts/install/listed-policy.ts';
import { buildRevision } from '../../../src/core/history/revisions.ts';
import type { ApiClient, ApiResponse, KubernetesObject } from '../control-plane/api.ts';
import { pollUntil } from '../control-plane/poll.ts';
import { EXPECTED_NODES } from '../scenarios/examples.ts';
import { applyFiles, collectionPath } from '../scenarios/manifests.ts';
import { repositoryPath } from '../scenarios/repository.ts';
import {
  assertDenied as assertRefused,
  changed as changedPod,
  messageOf,
  openAdmissionStage,
  podOf,
  rulesOf,
} from './admission-stage.ts';
import type { AdmissionStage } from './admission-stage.ts';
import { POD_ATTACKS } from './pod-attacks.ts';
import { TAMPERINGS, WIDE_NAMESPACE, WIDE_ROLE, wideDaemonSet } from './wide-daemon-set.ts';
import type { DraftPod } from './wide-daemon-set.ts';

const EXAMPLES_NAMESPACE = 'node-agents';
const BINDINGS = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings';

describe('the admission policy on a real API server (row 69)', () => {
  let stage: AdmissionStage;
  let admin: ApiClient;
  let rollcall: ApiClient;
  let wide: DaemonSetObject;

  const podsPath = (namespace: string): string => `/api/v1/namespaces/${namespace}/pods`;
  const create = (client: ApiClient, pod: JsonObject, query = '?dryRun=All') => {
    const { namespace } = pod['metadata'] as { readonly namespace: string };
    return client.request({ method: 'POST', path: podsPath(namespace) + query, body: pod });
  };
  const changed = (change: (pod: DraftPod) => void): JsonObject => changedPod(wide, change);
  const seen = new Set<string>();
  const rules = rulesOf(/^rollcall-(pods|owner)$/);
  const assertDenied = (response: ApiResponse, refusal: RegExp): void => {
    seen.add(messageOf(response));
    assertRefused(response, refusal);
  };

  before(async () => {
    stage = await openAdmissionStage();
    ({ admin, rollcall, wide } = stage);
    await applyFiles(
      admin,
      Object.keys(EXPECTED_NODES).map((name) => repositoryPath(`examples/${name}.yaml`)),
    );
    await admin.post('/api/v1/namespaces', { metadata: { name: 'bare' } });
    // No loop makes them here.
    for (const namespace of [EXAMPLES_NAMESPACE, 'bare']) {
      const path = `/api/v1/namespaces/${namespace}/serviceaccounts`;
      await admin.post(path, { metadata: { name: 'default' } });
    }
    await stage.createDaemonSet(wideDaemonSet('beside'));
  });

  after(() => stage.stop());

  it('lets every pod pass that Rollcall makes of the examples, whatever the API server fills in', async () => {
    for (const name of Object.keys(EXPECTED_NODES)) {
      const path = `/apis/apps/v1/namespaces/${EXAMPLES_NAMESPACE}/daemonsets/${name}`;
      const daemonSet = (await admin.get(path)) as unknown as DaemonSetObject; // raw JSON either way
      const response = await create(rollcall, podOf(daemonSet));
      assert.equal(response.status, 201, `${name}: ${messageOf(response)}`);
    }
  });

  it('lets pass what EKS’s webhooks add: their variables, and tokens of the pod’s own account', async () => {
    const pod = changed((draft) => {
      const [agent] = draft.spec.containers;
      assert.ok(agent !== undefined);
      (agent['env'] as unknown[]).push(
        { name: 'AWS_ROLE_ARN', value: WIDE_ROLE },
        {
          name: 'AWS_WEB_IDENTITY_TOKEN_FILE',
          value: '/var/run/secrets/eks.amazonaws.com/serviceaccount/token',
        },
        { name: 'AWS_REGION', value: 'eu-west-1' },
        { name: 'AWS_STS_REGIONAL_ENDPOINTS', value: 'regional' },
        {
          name: 'AWS_CONTAINER_CREDENTIALS_FULL_URI',
          value: 'http://169.254.170.23/v1/credentials',
        },
      );
      (agent['volumeMounts'] as unknown[]).push({
        name: 'aws-iam-token',
        mountPath: '/var/run/secrets/eks.amazonaws.com/serviceaccount',
        readOnly: true,
      });
      draft.spec.volumes.push({
        name: 'aws-iam-token',
        projected: {
          sources: [{ serviceAccountToken: { audience: 'sts.amazonaws.com', path: 'token' } }],
        },
      });
    });
    const response = await create(rollcall, pod);
    assert.equal(response.status, 201, messageOf(response));
  });

  for (const { what, refusal, change } of [...TAMPERINGS, ...POD_ATTACKS]) {
    it(`refuses a pod with a difference: ${what} (row 69)`, async () => {
      const pod = changed(change);
      assertDenied(await create(rollcall, pod), refusal);
    });
  }

  it('has a test for every rule about pods that are created', () => {
    const untested = rules.filter((rule) => ![...seen].some((message) => message.includes(rule)));
    // Not asked of a created pod: which verbs, and what is updated or deleted; the owner going has a test below.
    const otherwise =
      /subresource|changes labels|changes one label|takes pods|adopts|gives a pod|deletes only|being deleted/;
    assert.deepEqual(
      untested.filter((rule) => !otherwise.test(rule)),
      [],
    );
  });

  it('looks at nobody else: an administrator creates what Rollcall may not', async () => {
    let accepted = 0;
    for (const { change } of TAMPERINGS) {
      const { status } = await create(admin, changed(change));
      if (status === 201) accepted += 1;
    }
    // A few of them no API server takes from anybody.
    assert.ok(accepted >= TAMPERINGS.length - 6, `${accepted} of ${TAMPERINGS.length}`);
  });

  it('alone it cannot tell that an owner exists nowhere: the limit that the list closes', async () => {
    const response = await create(rollcall, changed(ownedBy('nobody', 'no-such-uid')));
    assert.equal(response.status, 201, messageOf(response));
    const nobody = { ...wide, metadata: { ...wide.metadata, name: 'nobody', uid: 'no-such-uid' } };
    const path = `/apis/apps/v1/namespaces/${WIDE_NAMESPACE}/controllerrevisions?dryRun=All`;
    const body = buildRevision(nobody, { hash: 'abc', revision: 1 });
    const revision = await rollcall.request({ method: 'POST', path, body });
    assert.equal(revision.status, 201, messageOf(revision));
  });

  it('lets a pod be of any revision: its two labels are not compared with anything', async () => {
    const pod = changed(({ metadata: { labels } }) => {
      Object.assign(labels, {
        'controller-revision-hash': 'x',
        'pod-template-generation': '99',
      });
    });
    const response = await create(rollcall, pod);
    assert.equal(response.status, 201, messageOf(response));
  });

  it('refuses a pod of a DaemonSet that is being deleted, or was made again (S5, row 38)', async () => {
    const path = `/apis/apps/v1/namespaces/${WIDE_NAMESPACE}/daemonsets`;
    const held = wideDaemonSet('going');
    const metadata = { ...(held['metadata'] as object), finalizers: ['example.com/hold'] };
    const going = await admin.post(path, { ...held, metadata });
    const pod = podOf(going as unknown as DaemonSetObject); // raw JSON either way
    await admin.delete(`${path}/going`);
    await eventuallyDenied(() => create(rollcall, pod), /being deleted/);
    await admin.patch(`${path}/going`, { metadata: { finalizers: null } });
    await admin.post(path, wideDaemonSet('going'));
    await eventuallyDenied(() => create(rollcall, pod), /exists under its name/);
    await admin.delete(`${path}/going`);
  });

  it('lets labels and owners be patched, and nothing else (row 69)', async () => {
    const made = await create(rollcall, podOf(wide, 'patched'), '');
    assert.equal(made.status, 201, messageOf(made));
    const patch = (body: unknown): Promise<ApiResponse> =>
      rollcall.request({
        method: 'PATCH',
        path: `${podsPath(WIDE_NAMESPACE)}/patched`,
        body,
        contentType: 'application/strategic-merge-patch+json',
      });
    const { uid } = (made.body as KubernetesObject).metadata;
    const labelled = await patch({
      metadata: { uid, labels: { 'controller-revision-hash': 'x' } },
    });
    assert.equal(labelled.status, 200, messageOf(labelled));
    assertDenied(await patch({ metadata: { labels: { payments: 'yes' } } }), /one label/);
    assertDenied(await patch({ metadata: { labels: { tier: null } } }), /one label/);
    const image = { spec: { containers: [{ name: 'agent', image: 'registry.example/evil:1' }] } };
    assertDenied(await patch(image), /labels and owners/);
    assertDenied(await patch({ metadata: { annotations: { a: 'b' } } }), /labels and owners/);
    assertDenied(
      await patch({ metadata: { finalizers: ['example.com/more'] } }),
      /labels and owners/,
    );
    const released = await patch({
      metadata: { uid, ownerReferences: [{ $patch: 'delete', uid: wide.metadata.uid }] },
    });
    assert.equal(released.status, 200, messageOf(released));
    const foreign = {
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      name: 'r',
      uid: 'r',
      controller: true,
    };
    assertDenied(await patch({ metadata: { ownerReferences: [foreign] } }), /only to a DaemonSet/);
    const adopted = await patch({
      metadata: { uid, ownerReferences: [ownerOf(wide)] },
    });
    assert.equal(adopted.status, 200, messageOf(adopted));
    const nobody = { apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: 'x' };
    assertDenied(
      await patch({ metadata: { ownerReferences: [nobody] } }),
      /no owner that does not control/,
    );
  });

  it('has no pod deleted by an owner: adopts none that was never a DaemonSet’s (S4, row 69)', async () => {
    await admin.post(podsPath(WIDE_NAMESPACE), {
      ...plainPod('bystander', WIDE_NAMESPACE),
    });
    const patch = (metadata: JsonObject): Promise<ApiResponse> =>
      rollcall.request({
        method: 'PATCH',
        path: `${podsPath(WIDE_NAMESPACE)}/bystander`,
        body: { metadata },
        contentType: 'application/merge-patch+json',
      });
    // The garbage collector would look for this owner, and delete the pod.
    const absent = { ...ownerOf(wide), uid: 'no-such-uid' };
    assertDenied(await patch({ ownerReferences: [absent] }), /adopts only pods/);
    assertDenied(await patch({ labels: { 'pod-template-generation': '1' } }), /one label/);
  });

  it('lets only pods be deleted that a DaemonSet controls (S4)', async () => {
    await admin.post(podsPath('bare'), plainPod('somebodys'));
    const remove = (namespace: string, name: string): Promise<ApiResponse> =>
      rollcall.request({ method: 'DELETE', path: `${podsPath(namespace)}/${name}` });
    assertDenied(await remove('bare', 'somebodys'), /that a DaemonSet controls/);
    assert.equal((await create(rollcall, podOf(wide, 'deleted'), '')).status, 201);
    const deleted = await remove(WIDE_NAMESPACE, 'deleted');
    assert.equal(deleted.status, 200, messageOf(deleted));
  });

  describe('with the DaemonSets listed by scripts/install/admission-policy.ts (ADR 0063)', () => {
    const path = `/apis/apps/v1/namespaces/${WIDE_NAMESPACE}/daemonsets`;
    let missing: DaemonSetObject;

    before(async () => {
      // The worst order, and an API server that has acted upon it: nothing bound before the list is posted.
      for (const name of ['rollcall-owner', 'rollcall-history-owner']) {
        await admin.delete(`${BINDINGS}/${name}`);
      }
      const compared = changed((pod) => (pod.spec['hostPID'] = true));
      await pollUntil({ deadlineMs: 120_000, description: 'no comparison' }, async () =>
        (await create(rollcall, compared)).status === 201 ? true : undefined,
      );
      missing = (await admin.post(path, wideDaemonSet('missing'))) as unknown as DaemonSetObject; // raw JSON either way
      const { body } = await admin.request({ method: 'GET', path: '/apis/apps/v1/daemonsets' });
      const { items } = body as { readonly items: readonly KubernetesObject[] };
      const listed = items
        .filter(({ metadata }) => metadata.name !== 'beside')
        .map((item) => ({ ...item, kind: 'DaemonSet' }));
      for (const object of listedPolicy(readDaemonSetList(JSON.stringify({ items: listed })))) {
        const manifest = object as unknown as KubernetesObject; // a manifest is raw JSON
        await admin.post(collectionPath(manifest), manifest);
      }
      // The policy and each of its bindings come into force by themselves.
      await eventuallyDenied(() => create(rollcall, changed(ownedBy('nobody', 'x'))), /listed/);
      await eventuallyDenied(
        () => create(rollcall, changed(ownedBy('wide', 'no-such-uid'))),
        /exists under its name/,
      );
    });

    it('lets pods of listed DaemonSets pass, and refuses those of another', async () => {
      const response = await create(rollcall, podOf(wide));
      assert.equal(response.status, 201, messageOf(response));
      for (const name of Object.keys(EXPECTED_NODES)) {
        const example = `/apis/apps/v1/namespaces/${EXAMPLES_NAMESPACE}/daemonsets/${name}`;
        const daemonSet = (await admin.get(example)) as unknown as DaemonSetObject; // raw JSON either way
        const { status } = await create(rollcall, podOf(daemonSet));
        assert.equal(status, 201, name);
      }
      const beside = (await admin.get(`${path}/beside`)) as unknown as DaemonSetObject; // raw JSON either way
      assertDenied(await create(rollcall, podOf(beside)), /listed/);
    });

    it('refuses an owner that exists nowhere, by name or by uid (S5)', async () => {
      assertDenied(await create(rollcall, changed(ownedBy('nobody', 'no-such-uid'))), /listed/);
      const byUid = await create(rollcall, changed(ownedBy('wide', 'no-such-uid')));
      assertDenied(byUid, /exists under its name/);
    });

    it('holds revisions to the list as well: of listed owners, which exist (row 69)', async () => {
      const post = (owner: DaemonSetObject, change: object = {}): Promise<ApiResponse> => {
        const revision = buildRevision(owner, { hash: 'abc', revision: 1 });
        const metadata = { ...(revision['metadata'] as object), ...change };
        const revisions = `/apis/apps/v1/namespaces/${WIDE_NAMESPACE}/controllerrevisions`;
        const body = { ...revision, metadata };
        return rollcall.request({ method: 'POST', path: `${revisions}?dryRun=All`, body });
      };
      const passed = await post(wide);
      assert.equal(passed.status, 201, messageOf(passed));
      const beside = (await admin.get(`${path}/beside`)) as unknown as DaemonSetObject; // raw JSON either way
      assertDenied(await post(beside), /listed/);
      const invented = { ownerReferences: [{ ...ownerOf(wide), name: 'nobody', uid: 'x' }] };
      assertDenied(await post(wide, invented), /listed/);
      const reused = { ownerReferences: [{ ...ownerOf(wide), uid: 'x' }] };
      assertDenied(await post(wide, reused), /exists under its name/);
    });

    it('refuses a pod in another namespace than its owner’s (S6)', async () => {
      const pod = changed((draft) => {
        draft.metadata['namespace'] = 'bare';
        draft.spec['serviceAccountName'] = 'default';
      });
      assertDenied(await create(rollcall, pod), /listed/);
    });

    it('refuses a pod that hides from the binding of its owner', async () => {
      const unlabelled = changed((draft) => delete draft.metadata.labels['app']);
      assertDenied(await create(rollcall, unlabelled), /listed|labels differ/);
      const unmarked = changed((draft) => delete draft.metadata.labels['pod-template-generation']);
      assertDenied(await create(rollcall, unmarked), /pod-template-generation/);
    });

    it('refuses pods of a listed DaemonSet that is gone, and nobody else’s there (S5)', async () => {
      const pod = podOf(missing);
      const present = await create(rollcall, pod);
      assert.equal(present.status, 201, messageOf(present));
      await admin.delete(`${path}/missing`);
      await eventuallyDenied(() => create(rollcall, pod), /no params found/);
      const others = await create(admin, plainPod('other', WIDE_NAMESPACE));
      assert.equal(others.status, 201, messageOf(others));
      const own = await create(rollcall, podOf(wide));
      assert.equal(own.status, 201, messageOf(own));
    });
  });

  function plainPod(name: string, namespace = 'bare'): JsonObject {
    return {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, namespace },
      spec: { containers: [{ name: 'c', image: 'registry.example/c:1' }] },
    };
  }

  function ownedBy(name: string, uid: string): (pod: DraftPod) => void {
    return (pod) => {
      pod.metadata.ownerReferences = [{ ...ownerOf(wide), name, uid }];
    };
  }

  async function eventuallyDenied(
    attempt: () => Promise<ApiResponse>,
    refusal: RegExp,
  ): Promise<void> {
    // Parameters come from a watch: a change is seen a moment later.
    const description = `a refusal like ${String(refusal)}`;
    let last = '';
    await pollUntil({ deadlineMs: 120_000, description }, async () => {
      const response = await attempt();
      last = `${String(response.status)} ${messageOf(response)}`;
      return refusal.test(last) ? true : undefined;
    }).catch((cause: unknown) => {
      throw new Error(`${description}, not ${last}`, { cause });
    });
  }

  function ownerOf({ metadata: { name, uid } }: DaemonSetObject): JsonObject {
    const known = { apiVersion: 'apps/v1', kind: 'DaemonSet', name, uid };
    return { ...known, controller: true, blockOwnerDeletion: true };
  }
});
