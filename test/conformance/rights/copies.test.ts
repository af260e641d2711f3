/**
 * Copies of good templates, and pods that name one, on a real API server with the DaemonSets listed one by one (ADR 0063):
 * what a staged rollout does passes, and a stolen credential gets no pod that its DaemonSet never asked for (row 69).
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Json, JsonObject } from '@rollcall/base/json.ts';
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import { listedPolicy, readDaemonSetList } from '../../../scripts/install/listed-policy.ts';
import { nodeName } from '../../../src/core/model/identifiers.ts';
import type { CopySlot } from '../../../src/core/model/state.ts';
import { podFromTemplate, prepareFormer } from '../../../src/core/pod/pod-template.ts';
import { buildCopy, copyName, labelsOfPod } from '../../../src/core/admission/template-copy.ts';
import type { ApiClient, ApiResponse, KubernetesObject } from '../control-plane/api.ts';
import { pollUntil } from '../control-plane/poll.ts';
import { collectionPath } from '../scenarios/manifests.ts';
import {
  assertAccepted,
  DAEMON_SETS,
  dryRun,
  judging,
  messageOf,
  openAdmissionStage,
  podOf,
  rulesOf,
} from './admission-stage.ts';
import type { AdmissionStage } from './admission-stage.ts';
import { POD_ATTACKS } from './pod-attacks.ts';
import { TAMPERINGS, WIDE_NAMESPACE, wideDaemonSet, type DraftPod } from './wide-daemon-set.ts';

const COPIES = `/api/v1/namespaces/${WIDE_NAMESPACE}/podtemplates`;
const BINDINGS = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings';
const NEXT_IMAGE = 'registry.example/agent:2';

type Draft = Record<string, Json> & { metadata: Record<string, Json> };

describe('copies of good templates, and a stolen credential (row 69)', () => {
  let stage: AdmissionStage;
  let admin: ApiClient;
  let rollcall: ApiClient;
  /** As it was when its first template was copied. */
  let wide: DaemonSetObject;
  let beside: DaemonSetObject;
  const seen: string[] = [];

  const send = (method: 'POST' | 'PUT' | 'DELETE', path: string, body?: unknown) =>
    rollcall.request({ method, path, ...(body === undefined ? {} : { body }) });
  const { denied, accepted } = judging(seen);
  const copyOf = (
    daemonSet: DaemonSetObject,
    slot: CopySlot,
    change: (draft: Draft) => void = () => undefined,
  ): JsonObject => {
    const draft = structuredClone(buildCopy(daemonSet, { slot, hash: 'abc' })) as Draft;
    change(draft);
    return draft;
  };
  const copyDry = (body: JsonObject) => send('POST', `${COPIES}?dryRun=All`, body);
  const provenPod = (
    slot: CopySlot,
    change: (pod: DraftPod) => void = () => undefined,
    daemonSet = wide,
  ): JsonObject => {
    const template = structuredClone(daemonSet.spec.template) as unknown as JsonObject; // raw JSON
    const prepared = prepareFormer(daemonSet, {
      hash: 'abc',
      template,
      generation: '1',
      labels: labelsOfPod(slot),
    });
    const pod = structuredClone(
      podFromTemplate(prepared, { node: nodeName('n-1'), name: 'pod-1' }),
    );
    change(pod as unknown as DraftPod); // a pod of the wide DaemonSet has these fields
    return pod;
  };
  const setImage = async (image: string): Promise<DaemonSetObject> => {
    const containers = [{ name: 'agent', image }];
    const answer = await admin.request({
      method: 'PATCH',
      path: `${DAEMON_SETS}/wide`,
      body: { spec: { template: { spec: { containers } } } },
      contentType: 'application/strategic-merge-patch+json',
    });
    assertAccepted(answer);
    return answer.body as DaemonSetObject; // raw JSON either way
  };
  /** Parameters come from a watch: a change is seen a moment later. */
  const eventually = async (
    what: string,
    attempt: () => Promise<ApiResponse>,
    isSo: (response: ApiResponse) => boolean,
  ): Promise<void> => {
    let last = '';
    await pollUntil({ deadlineMs: 120_000, description: what }, async () => {
      const response = await attempt();
      last = `${String(response.status)} ${messageOf(response)}`;
      return isSo(response) ? true : undefined;
    }).catch((cause: unknown) => {
      throw new Error(`${what}, not ${last}`, { cause });
    });
  };

  before(async () => {
    stage = await openAdmissionStage();
    ({ admin, rollcall, wide } = stage);
    beside = await stage.createDaemonSet(wideDaemonSet('beside'));
    await stage.createDaemonSet(wideDaemonSet('unlisted'));
  });

  after(() => stage.stop());

  describe('with every DaemonSet bound at once', () => {
    it('refuses a pod that names a copy: nothing could say that its own is meant', async () => {
      await denied(dryRun(rollcall, provenPod('a')), /labels differ/);
    });

    it('lets no copy be written but of the present template', async () => {
      await accepted(copyDry(copyOf(wide, 'a')));
      const evil = copyOf(wide, 'a', (draft) => Object.assign(specOf(draft), { hostPID: true }));
      await denied(copyDry(evil), /differs from the template of the owner/);
    });
  });

  describe('with DaemonSets listed one by one', () => {
    before(async () => {
      const listed = [wide, beside].map((each) => ({ ...each, kind: 'DaemonSet' }));
      for (const object of listedPolicy(readDaemonSetList(JSON.stringify({ items: listed })))) {
        const manifest = object as unknown as KubernetesObject; // a manifest is raw JSON
        await admin.post(collectionPath(manifest), manifest);
      }
      for (const name of ['rollcall-owner', 'rollcall-history-owner', 'rollcall-copies-owner'])
        await admin.delete(`${BINDINGS}/${name}`);
      const isSaid = (words: RegExp) => (response: ApiResponse) => words.test(messageOf(response));
      for (const slot of ['a', 'b'] as const) {
        await eventually(
          'a pod without its copy is refused',
          () => dryRun(rollcall, provenPod(slot)),
          isSaid(/no params found/),
        );
      }
      const unlisted = { ...wide, metadata: { ...wide.metadata, name: 'unlisted' } };
      await eventually('the list', () => copyDry(copyOf(unlisted, 'a')), isSaid(/listed/));
    });

    for (const [what, refusal, change] of [
      ['another image', /differs from the template/, (d) => (containerOf(d)['image'] = 'evil')],
      ['one more member', /differs from the template/, (d) => (specOf(d)['hostPID'] = true)],
      [
        'an annotation of the pod',
        /differs from the template/,
        (d) =>
          (templateOf(d)['metadata'] = {
            labels: { app: 'wide', tier: 'node' },
            annotations: { x: 'y' },
          }),
      ],
      [
        'another role',
        /annotations differ/,
        (d) => (d.metadata['annotations'] = { 'eks.amazonaws.com/role-arn': 'arn:evil' }),
      ],
      ['a name of its own', /has the name/, (d) => (d.metadata['name'] = 'wide-rollcall-evil')],
      [
        'the name of another’s copy',
        /has the name/,
        (d) => (d.metadata['name'] = copyName('beside', 'a')),
      ],
      [
        'the name of the other slot',
        /has the name/,
        (d) => (d.metadata['name'] = copyName('wide', 'b')),
      ],
      [
        'a label that hides it from the comparison',
        /carries the label/,
        (d) => (d.metadata['labels'] = { app: 'wide' }),
      ],
      [
        'a label that hides it from the binding of its owner',
        /listed/,
        (d) => (d.metadata['labels'] = { 'rollcall.dev/revision': 'proven-a' }),
      ],
      ['no owner', /has one owner|listed/, (d) => (d.metadata['ownerReferences'] = [])],
      [
        'a controlling owner',
        /does not control it/,
        (d) => (d.metadata['ownerReferences'] = [{ ...ownerOf(d), controller: true }]),
      ],
      [
        'an owner that exists nowhere',
        /exists under its name/,
        (d) => (d.metadata['ownerReferences'] = [{ ...ownerOf(d), uid: 'no-such-uid' }]),
      ],
      ['a finalizer', /no finalizers/, (d) => (d.metadata['finalizers'] = ['example.com/hold'])],
    ] satisfies readonly (readonly [string, RegExp, (draft: Draft) => void])[]) {
      it(`refuses a copy with ${what}`, async () => {
        await denied(copyDry(copyOf(wide, 'a', change)), refusal);
      });
    }

    it('refuses a copy of another DaemonSet’s template', async () => {
      const template = copyOf(beside, 'a')['template'] ?? null;
      const stolen = copyOf(wide, 'a', (draft) => (draft['template'] = template));
      await denied(copyDry(stolen), /differs from the template/);
    });

    it('refuses a pod that names a copy which nobody wrote, whatever it is', async () => {
      assert.match(messageOf(await dryRun(rollcall, provenPod('b'))), /no params found/);
      const other = provenPod('a', () => undefined, beside);
      assert.match(messageOf(await dryRun(rollcall, other)), /no params found/);
    });

    describe('once the template that was copied is a former one', () => {
      let next: DaemonSetObject;

      before(async () => {
        await accepted(send('POST', COPIES, copyOf(wide, 'a')));
        await accepted(send('POST', COPIES, copyOf(beside, 'a')));
        next = await setImage(NEXT_IMAGE);
        await eventually(
          'the new template is that of the owner',
          () => dryRun(rollcall, podOf(next)),
          ({ status }) => status === 201,
        );
        await eventually(
          'the copy is known',
          () => dryRun(rollcall, provenPod('a')),
          ({ status }) => status === 201,
        );
      });

      it('lets its pods pass, and those of the present one', async () => {
        await accepted(dryRun(rollcall, provenPod('a')));
        await accepted(dryRun(rollcall, podOf(next)));
        const noted = provenPod('a', ({ metadata: { labels } }) => {
          Object.assign(labels, {
            'controller-revision-hash': 'x',
            'pod-template-generation': '9',
          });
        });
        await accepted(dryRun(rollcall, noted));
      });

      it('refuses a former pod that does not say so, and the present one as a former', async () => {
        await denied(dryRun(rollcall, podOf(wide)), /containers differ/);
        await denied(
          dryRun(
            rollcall,
            provenPod('a', () => undefined, next),
          ),
          /containers differ/,
        );
        const unknown = provenPod('a', (pod) => {
          pod.metadata.labels['rollcall.dev/revision'] = 'proven-c';
        });
        await denied(dryRun(rollcall, unknown), /labels differ/);
      });

      it('refuses a pod of somebody else’s copy', async () => {
        const swapped = provenPod('a', (pod) => {
          const { name, uid } = beside.metadata;
          pod.metadata.ownerReferences = pod.metadata.ownerReferences.map((one) => ({
            ...one,
            name,
            uid,
          }));
        });
        await denied(dryRun(rollcall, swapped), /listed/);
        const renamed = provenPod('a', (pod) => {
          pod.metadata.ownerReferences = pod.metadata.ownerReferences.map((one) => ({
            ...one,
            uid: 'no-such-uid',
          }));
        });
        await denied(dryRun(rollcall, renamed), /exists under its name|must be of its owner/);
      });

      for (const { what, refusal, change } of [...TAMPERINGS, ...POD_ATTACKS]) {
        it(`refuses a pod of a copy with a difference: ${what}`, async () => {
          const words = new RegExp(`${refusal.source}|must be of its owner|listed`);
          await denied(dryRun(rollcall, provenPod('a', change)), words);
        });
      }

      it('refuses the copy to be written anew, but as the present template', async () => {
        const path = `${COPIES}/${copyName('wide', 'a')}`;
        const former = copyOf(wide, 'a');
        await denied(send('PUT', `${path}?dryRun=All`, former), /differs from the template/);
        await accepted(send('PUT', `${path}?dryRun=All`, copyOf(next, 'a')));
        await denied(copyDry(copyOf(wide, 'b')), /differs from the template/);
      });

      it('refuses to delete one, also where a role would allow it', async () => {
        const path = `${COPIES}/${copyName('wide', 'a')}`;
        assert.equal((await send('DELETE', path)).status, 403);
        const rbac = '/apis/rbac.authorization.k8s.io/v1';
        const metadata = { name: 'too-much' };
        const rules = [{ apiGroups: [''], resources: ['podtemplates'], verbs: ['delete'] }];
        await admin.post(`${rbac}/clusterroles`, { metadata, rules });
        const apiGroup = 'rbac.authorization.k8s.io';
        await admin.post(`${rbac}/clusterrolebindings`, {
          metadata,
          roleRef: { apiGroup, kind: 'ClusterRole', name: 'too-much' },
          subjects: [
            { kind: 'ServiceAccount', name: 'rollcall-functions', namespace: 'rollcall-system' },
          ],
        });
        await eventually(
          'the role in force',
          () => send('DELETE', `${path}?dryRun=All`),
          ({ status }) => status !== 403,
        );
        await denied(send('DELETE', path), /deletes none/);
      });

      it('refuses to take what is somebody else’s', async () => {
        const owned = copyOf(wide, 'b');
        const metadata = { name: copyName('wide', 'b'), namespace: WIDE_NAMESPACE };
        await admin.post(COPIES, { ...owned, metadata });
        const path = `${COPIES}/${copyName('wide', 'b')}`;
        await denied(
          send('PUT', `${path}?dryRun=All`, copyOf(next, 'b')),
          /takes a copy from nobody/,
        );
        // Who could write it in the owner’s name is not Rollcall; without an owner it lets nothing pass.
        await eventually(
          'the copy without an owner is known',
          () => dryRun(rollcall, provenPod('b')),
          (response) => /must be of its owner/.test(messageOf(response)),
        );
        await admin.delete(path);
      });

      it('is asked of nobody else', async () => {
        const body = copyOf(wide, 'b', (draft) => (specOf(draft)['hostPID'] = true));
        assertAccepted(await admin.request({ method: 'POST', path: `${COPIES}?dryRun=All`, body }));
        assertAccepted(await dryRun(admin, podOf(wide)));
      });

      it('ends with its owner: its pods are refused once that is being deleted (S5)', async () => {
        await admin.patch(`${DAEMON_SETS}/wide`, {
          metadata: { finalizers: ['example.com/hold'] },
        });
        await admin.delete(`${DAEMON_SETS}/wide`);
        await eventually(
          'a refusal',
          () => dryRun(rollcall, provenPod('a')),
          (response) => /being deleted/.test(messageOf(response)),
        );
        await denied(copyDry(copyOf(next, 'b')), /being deleted/);
        await admin.patch(`${DAEMON_SETS}/wide`, { metadata: { finalizers: null } });
        await eventually(
          'a refusal for want of the owner',
          () => dryRun(rollcall, provenPod('a')),
          (response) => /no params found/.test(messageOf(response)),
        );
      });
    });

    it('has a test for every rule about copies', () => {
      const untested = rulesOf(/^rollcall-copies/).filter(
        (rule) => !seen.some((message) => message.includes(rule)),
      );
      assert.deepEqual(untested, []);
    });
  });

  function templateOf(draft: Draft): Record<string, Json> {
    return draft['template'] as Record<string, Json>;
  }

  function specOf(draft: Draft): Record<string, Json> {
    return templateOf(draft)['spec'] as Record<string, Json>;
  }

  function containerOf(draft: Draft): Record<string, Json> {
    const [first] = specOf(draft)['containers'] as Record<string, Json>[];
    assert.ok(first !== undefined);
    return first;
  }

  function ownerOf({ metadata }: Draft): Record<string, Json> {
    const [first] = metadata['ownerReferences'] as Record<string, Json>[];
    assert.ok(first !== undefined);
    return first;
  }
});
