/**
 * What Rollcall's credential may do to objects other than pods, on a real API server: revisions, statuses, Events and
 * the watcher's Lease (row 69; S4, S5). Each refusal here was an accepted request before B.2.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { buildEvent } from '../../../src/core/events/events.ts';
import {
  buildHashRepair,
  buildRenumbering,
  buildRevisionAdoption,
  buildRevisionRelease,
} from '../../../src/core/history/history-patches.ts';
import type { Json, JsonObject } from '@rollcall/base/json.ts';
import type { DaemonSetObject, KubernetesObject } from '@rollcall/base/objects.ts';
import { buildRevision } from '../../../src/core/history/revisions.ts';
import type { ApiClient, ApiRequest, ApiResponse } from '../control-plane/api.ts';
import { DAEMON_SETS, judging, openAdmissionStage, rulesOf } from './admission-stage.ts';
import type { AdmissionStage } from './admission-stage.ts';
import { WIDE_NAMESPACE } from './wide-daemon-set.ts';

const REVISIONS = `/apis/apps/v1/namespaces/${WIDE_NAMESPACE}/controllerrevisions`;
const EVENTS = `/api/v1/namespaces/${WIDE_NAMESPACE}/events`;
const LEASES = '/apis/coordination.k8s.io/v1/namespaces/rollcall-system/leases';
const STATEFUL_SET = {
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  name: 'database',
  uid: 'database-uid',
  controller: true,
};

/** Members of an object, to be changed. */
type Draft = Record<string, Json> & { metadata: Record<string, Json> };

describe('objects beside pods, and a stolen credential (row 69)', () => {
  let stage: AdmissionStage;
  let rollcall: ApiClient;
  let admin: ApiClient;
  let wide: DaemonSetObject;
  const seen: string[] = [];

  before(async () => {
    stage = await openAdmissionStage();
    ({ rollcall, admin, wide } = stage);
  });

  after(() => stage.stop());

  const send = (method: ApiRequest['method'], path: string, body?: unknown): Promise<ApiResponse> =>
    rollcall.request({ method, path, ...(body === undefined ? {} : { body }) });
  const { denied: refused, accepted } = judging(seen);

  describe('revisions', () => {
    const revision = (
      hash: string,
      change: (draft: Draft) => void = () => undefined,
    ): JsonObject => {
      const made = structuredClone(buildRevision(wide, { hash, revision: 1 })) as Draft;
      change(made);
      return made;
    };
    const createDry = (body: JsonObject): Promise<ApiResponse> =>
      send('POST', `${REVISIONS}?dryRun=All`, body);
    const templateOf = (draft: Draft): Record<string, Json> =>
      ((draft['data'] as JsonObject)['spec'] as JsonObject)['template'] as Record<string, Json>;

    it('lets everything pass that Rollcall does to them', async () => {
      const made = await accepted(send('POST', REVISIONS, revision('abc')));
      const patch = (effect: { readonly name: string; readonly body: JsonObject }) =>
        accepted(send('PATCH', `${REVISIONS}/${effect.name}`, effect.body));
      const released = await patch(buildRevisionRelease(wide, made));
      assert.deepEqual(released.metadata['ownerReferences'] ?? [], []);
      const adopted = await patch(buildRevisionAdoption(wide, released, 'other-template'));
      const renumbered = await patch(buildRenumbering(wide, adopted, 7));
      const path = `${REVISIONS}/${made.metadata.name}`;
      await admin.patch(path, { metadata: { labels: { 'controller-revision-hash': null } } });
      const bare = (await admin.get(path)) as unknown as KubernetesObject;
      await patch(buildHashRepair(bare));
      assert.equal(renumbered['revision'], 7);
      await accepted(send('DELETE', path));
    });

    it('refuses one whose pods a StatefulSet would make: the attack of B.2', async () => {
      const evil = { containers: [{ name: 'evil', image: 'registry.example/evil:1' }] };
      const attack = revision('evil', (draft) => {
        draft.metadata['ownerReferences'] = [STATEFUL_SET];
        draft['data'] = { spec: { template: { $patch: 'replace', spec: evil } } };
      });
      await refused(createDry(attack), /has one owner, the DaemonSet/);
    });

    it('refuses one that nobody owns, so that whose selector it matches would take it', async () => {
      const orphan = revision('none', (draft) => (draft.metadata['ownerReferences'] = []));
      await refused(createDry(orphan), /has one owner, the DaemonSet/);
    });

    it('refuses one that hides from the comparison with its owner', async () => {
      const hidden = revision('hidden', (draft) => {
        draft.metadata['labels'] = { app: 'wide', tier: 'node' };
      });
      await refused(createDry(hidden), /carries the label controller-revision-hash/);
    });

    it('refuses a finalizer, which would keep its owner from going', async () => {
      const held = revision(
        'held',
        (draft) => (draft.metadata['finalizers'] = ['example.com/hold']),
      );
      await refused(createDry(held), /has no finalizers/);
    });

    for (const [what, change] of [
      ['another image', (t) => (t['spec'] = { ...(t['spec'] as JsonObject), containers: [] })],
      ['one more member', (t) => (t['spec'] = { ...(t['spec'] as JsonObject), hostPID: true })],
      ['annotations', (t) => (t['metadata'] = { annotations: { 'example.com/x': 'y' } })],
      ['labels taken away', (t) => (t['metadata'] = {})],
      ['a merge instead of a replacement', (t) => delete t['$patch']],
    ] satisfies readonly (readonly [string, (template: Record<string, Json>) => void])[]) {
      it(`refuses data that are not the template: ${what} (a rollback would apply them)`, async () => {
        await refused(
          createDry(revision('data', (draft) => change(templateOf(draft)))),
          /data differ/,
        );
      });
    }

    it('refuses data beside the template', async () => {
      const data = (draft: Draft): Record<string, Json> => draft['data'] as Record<string, Json>;
      await refused(createDry(revision('m', (d) => (data(d)['metadata'] = {}))), /data differ/);
      const paused = revision('p', (d) => {
        data(d)['spec'] = { ...(data(d)['spec'] as JsonObject), minReadySeconds: 1 };
      });
      await refused(createDry(paused), /data differ/);
    });

    it('refuses labels, a name or an owner that are not the DaemonSet’s', async () => {
      const labels = { ...wide.spec.template.metadata?.labels, payments: 'yes' };
      const hashed = { ...labels, 'controller-revision-hash': 'l' };
      const labelled = revision('l', (draft) => (draft.metadata['labels'] = hashed));
      await refused(createDry(labelled), /labels differ/);
      const named = revision('n', (draft) => (draft.metadata['name'] = 'database-5d8c'));
      await refused(createDry(named), /the name is not/);
      const other = revision('o', (draft) => {
        draft.metadata['ownerReferences'] = [{ ...ownerOf(wide), uid: 'no-such-uid' }];
      });
      await refused(createDry(other), /exists under its name/);
    });

    it('lets nothing else of them be changed, and no one else’s be touched', async () => {
      const made = await accepted(send('POST', REVISIONS, revision('kept')));
      const path = `${REVISIONS}/${made.metadata.name}`;
      const patch = (metadata: JsonObject): Promise<ApiResponse> =>
        send('PATCH', path, { metadata });
      await refused(patch({ labels: { payments: 'yes' } }), /and generation of revisions/);
      await refused(
        patch({ annotations: { 'example.com/x': 'y' } }),
        /and generation of revisions/,
      );
      await refused(patch({ finalizers: ['example.com/hold'] }), /and generation of revisions/);
      await refused(patch({ ownerReferences: [STATEFUL_SET] }), /only to a DaemonSet/);
      const absent = { apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: 'x' };
      await refused(
        patch({ ownerReferences: [ownerOf(wide), absent] }),
        /no owner that does not control/,
      );
    });

    it('touches no revision of a StatefulSet, and deletes none that no DaemonSet controls', async () => {
      const foreign = revision('theirs', (draft) => {
        draft.metadata['ownerReferences'] = [STATEFUL_SET];
        draft.metadata['name'] = 'database-1';
      });
      await admin.post(REVISIONS, foreign);
      const path = `${REVISIONS}/database-1`;
      const patch = (body: JsonObject): Promise<ApiResponse> => send('PATCH', path, body);
      await refused(patch({ revision: 99 }), /takes revisions only from/);
      await refused(patch({ metadata: { ownerReferences: [] } }), /takes revisions only from/);
      await refused(send('DELETE', path), /deletes only revisions/);
    });
  });

  describe('DaemonSets', () => {
    const path = `${DAEMON_SETS}/wide`;
    const withMetadata = async (change: JsonObject): Promise<ApiResponse> => {
      const current = await admin.get(path);
      const metadata = { ...current.metadata, ...change };
      return send('PUT', `${path}/status`, { ...current, metadata });
    };

    it('lets status be written, whole, as Rollcall does', async () => {
      const current = await admin.get(path);
      const status = { ...(current['status'] as object), numberReady: 1, observedGeneration: 1 };
      await accepted(send('PUT', `${path}/status`, { ...current, status }));
    });

    // The API server takes them from a status write: an owner that does not exist has the DaemonSet collected.
    for (const [what, change] of [
      ['an owner', { ownerReferences: [{ ...STATEFUL_SET, uid: 'no-such-uid' }] }],
      ['an annotation', { annotations: { 'eks.amazonaws.com/role-arn': 'arn:aws:iam::9:role/x' } }],
      ['a label', { labels: { more: 'x' } }],
      ['a finalizer', { finalizers: ['example.com/hold'] }],
    ] satisfies readonly (readonly [string, JsonObject])[]) {
      it(`refuses ${what} by a status write`, async () => {
        await refused(withMetadata(change), /the status of DaemonSets, and nothing else/);
        const patch = send('PATCH', `${path}/status`, { metadata: change });
        await refused(patch, /the status of DaemonSets, and nothing else/);
      });
    }
  });

  describe('Events', () => {
    const write = {
      kind: 'create',
      name: 'wide.1',
      type: 'Normal',
      reason: 'SuccessfulCreate',
      message: 'Created pod: wide-x',
      count: 1,
      firstAtMs: 0,
      lastAtMs: 0,
    } as const;

    it('lets Rollcall’s pass, and be counted', async () => {
      const made = await accepted(send('POST', EVENTS, buildEvent(wide, write)));
      const more = { count: 2, lastTimestamp: '2026-11-22T00:00:00Z', message: 'Created pod: y' };
      await accepted(send('PATCH', `${EVENTS}/${made.metadata.name}`, more));
      const patch = { reason: 'Nothing' };
      await refused(send('PATCH', `${EVENTS}/${made.metadata.name}`, patch), /raises the count/);
    });

    it('refuses Events about others, from others, and changes of others’', async () => {
      const event = { ...buildEvent(wide, { ...write, name: 'wide.2' }) };
      const involvedObject = {
        kind: 'Pod',
        apiVersion: 'v1',
        namespace: WIDE_NAMESPACE,
        name: 'x',
      };
      const about = { ...event, involvedObject };
      await refused(send('POST', `${EVENTS}?dryRun=All`, about), /Events about DaemonSets/);
      const from = { ...event, source: { component: 'kubelet' } };
      await refused(send('POST', `${EVENTS}?dryRun=All`, from), /Events about DaemonSets/);
      const theirs = { ...about, metadata: { name: 'theirs', namespace: WIDE_NAMESPACE } };
      await admin.post(EVENTS, theirs);
      const patch = send('PATCH', `${EVENTS}/theirs`, { message: 'nothing happened' });
      await refused(patch, /Events about DaemonSets/);
    });
  });

  describe('the watcher’s Lease', () => {
    it('lets a snapshot be asked for, and nothing else be changed', async () => {
      const metadata = { name: 'rollcall-watcher', annotations: { 'example.com/note': 'kept' } };
      await admin.post(LEASES, { metadata, spec: { holderIdentity: 'watcher' } });
      const patch = (body: JsonObject): Promise<ApiResponse> =>
        send('PATCH', `${LEASES}/rollcall-watcher`, body);
      const asked = { metadata: { annotations: { 'rollcall.dev/snapshot-requested': 'r' } } };
      await accepted(patch(asked));
      await refused(patch({ spec: { holderIdentity: 'thief' } }), /an annotation of its Lease/);
      const other = { metadata: { annotations: { 'example.com/note': null } } };
      await refused(patch(other), /an annotation of its Lease/);
      // An owner that does not exist would have it collected, and the watcher's incarnation with it.
      for (const change of [
        { labels: { more: 'x' } },
        { ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: 'x' }] },
        { finalizers: ['example.com/hold'] },
      ])
        await refused(patch({ metadata: change }), /an annotation of its Lease/);
    });
  });

  it('has a test for every rule about them', () => {
    const rules = rulesOf(/^rollcall-(history|history-owner|status|events|lease)$/);
    // RBAC gives no other verb.
    const untested = rules.filter((rule) => !seen.some((message) => message.includes(rule)));
    assert.deepEqual(untested, ['Rollcall creates, patches and deletes revisions']);
  });

  function ownerOf({ metadata: { name, uid } }: DaemonSetObject): JsonObject {
    const known = { apiVersion: 'apps/v1', kind: 'DaemonSet', name, uid };
    return { ...known, controller: true, blockOwnerDeletion: true };
  }
});
