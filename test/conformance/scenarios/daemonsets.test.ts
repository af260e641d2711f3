/**
 * Scenarios on a control plane, real and local: what happens to DaemonSets. Created, scaled by labels,
 * deleted in the background, in the foreground and with orphans, orphans adopted, and an admission
 * policy that refuses the pods of some nodes.
 */
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { pollUntil } from '../control-plane/poll.ts';
import { collectionPath } from './manifests.ts';
import { daemonSetPath, testDaemonSet } from './daemon-set.ts';
import {
  daemonSetUid,
  expectNoDoublePlacement,
  expectPodsOn,
  expectStatus,
  livePodsByNode,
} from './expectations.ts';
import { describeOnBackend } from './backends.ts';
import { NODES, UNTAINTED, openStage, type Stage } from './stage.ts';

const DEADLINE_MS = 120_000;

describeOnBackend('DaemonSets', { timeout: 1_200_000 }, (backend) => {
  let stage: Stage;

  before(async () => {
    stage = await openStage({ backend, name: 'scenario-daemonsets' });
  });
  after(async () => {
    await (stage as Stage | undefined)?.close();
  });

  it('are scaled by the labels of nodes', async () => {
    const uid = await create('scaled', { nodeSelector: { 'example.com/scaled': 'true' } });
    await expectStatus(stage, uid, { desiredNumberScheduled: 0 });
    for (const node of NODES.plain) await setLabel(node, 'true');
    await expectPodsOn(stage, uid, NODES.plain);
    for (const node of NODES.plain.slice(0, 4)) await setLabel(node, null);
    await expectPodsOn(stage, uid, NODES.plain.slice(4));
    await expectStatus(stage, uid, { desiredNumberScheduled: 4, numberAvailable: 4 });
  });

  for (const propagationPolicy of ['Background', 'Foreground'] as const) {
    it(`deleted in the ${propagationPolicy.toLowerCase()} go with their pods`, async () => {
      const name = `gone-${propagationPolicy.toLowerCase()}`;
      const uid = await create(name);
      await expectPodsOn(stage, uid, UNTAINTED);
      await stage.admin.delete(daemonSetPath({ name }), { propagationPolicy });
      await stage.observer.waitUntil(
        (observer) => !observer.daemonSets.has(uid) && observer.podsByNode(uid).size === 0,
        { deadlineMs: DEADLINE_MS, description: 'no DaemonSet and no pods' },
      );
    });
  }

  it('re-created under the same name start afresh', async () => {
    const uid = await create('gone-background');
    await expectPodsOn(stage, uid, UNTAINTED);
    await stage.admin.delete(daemonSetPath({ name: 'gone-background' }));
  });

  it('deleted with orphans leave their pods, and a new one with that selector adopts them', async () => {
    const name = 'orphaning';
    const uid = await create(name);
    await expectPodsOn(stage, uid, UNTAINTED);
    const before = podUids(uid);
    await stage.admin.delete(daemonSetPath({ name }), { propagationPolicy: 'Orphan' });
    await stage.observer.waitUntil((observer) => !observer.daemonSets.has(uid), {
      deadlineMs: DEADLINE_MS,
      description: 'the DaemonSet is gone',
    });
    const adopterUid = await create(name);
    await expectPodsOn(stage, adopterUid, UNTAINTED);
    assert.deepEqual(podUids(adopterUid), before, 'the very same pods were adopted');
  });

  it('go on with the other nodes where admission refuses the pods of some', async () => {
    const refused = NODES.plain.slice(0, 2);
    await refusePodsOn(refused, 'admitted');
    const uid = await create('admitted');
    await expectPodsOn(
      stage,
      uid,
      UNTAINTED.filter((node) => !refused.includes(node)),
    );
    await expectStatus(stage, uid, {
      desiredNumberScheduled: UNTAINTED.length,
      currentNumberScheduled: UNTAINTED.length - refused.length,
    });
    await pollUntil(
      { deadlineMs: DEADLINE_MS, description: 'verdicts that say Refused' },
      async () => {
        const overview = await stage.engine().overview();
        const daemonSet = overview[0]?.daemonSets.find((one) => one.name === 'admitted');
        return daemonSet?.codes.Refused === refused.length ? true : undefined;
      },
    );
  });

  it('never had two non-terminal pods of one on a node (S1)', () => {
    expectNoDoublePlacement(stage);
  });

  async function create(
    name: string,
    more: Partial<Parameters<typeof testDaemonSet>[0]> = {},
  ): Promise<string> {
    await stage.admin.post(daemonSetPath({}), testDaemonSet({ name, ...more }));
    return daemonSetUid(stage, { namespace: 'default', name });
  }

  async function setLabel(node: string, value: string | null): Promise<void> {
    await stage.admin.patch(`/api/v1/nodes/${node}`, {
      metadata: { labels: { 'example.com/scaled': value } },
    });
  }

  function podUids(uid: string): string[] {
    return [...livePodsByNode(stage.observer, uid).values()]
      .flat()
      .map((pod) => pod.uid)
      .sort();
  }

  /** Pods of this app for these nodes are refused: by a real admission policy, or by the local cluster's stand-in. */
  async function refusePodsOn(nodes: readonly string[], app: string): Promise<void> {
    if (backend === 'real') await createPolicy(nodes, app);
    else for (const node of nodes) await askToRefuse(node, app);
    for (const node of nodes) await waitUntilRefused(app, node);
  }

  async function askToRefuse(node: string, app: string): Promise<void> {
    await stage.admin.patch(`/api/v1/nodes/${node}`, {
      metadata: { annotations: { 'simulate.rollcall.dev/refuse-pods': `app=${app}` } },
    });
  }

  async function createPolicy(nodes: readonly string[], app: string): Promise<void> {
    const name = 'refuse-some-nodes';
    const target =
      'object.spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution' +
      '.nodeSelectorTerms[0].matchFields[0].values[0]';
    const policy = {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingAdmissionPolicy',
      metadata: { name },
      spec: {
        failurePolicy: 'Fail',
        matchConstraints: {
          objectSelector: { matchLabels: { app } },
          resourceRules: [
            { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] },
          ],
        },
        validations: [
          {
            expression: `!(${target} in ${JSON.stringify(nodes)})`,
            message: 'this node takes no pods of this app',
          },
        ],
      },
    };
    const binding = {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata: { name },
      spec: { policyName: name, validationActions: ['Deny'] },
    };
    await stage.admin.post(collectionPath(policy), policy);
    await stage.admin.post(collectionPath(binding), binding);
  }

  /** A policy takes effect a moment after it was created: dry runs tell when. */
  async function waitUntilRefused(app: string, node: string): Promise<void> {
    const matchFields = [{ key: 'metadata.name', operator: 'In', values: [node] }];
    const body = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'dry-run', labels: { app } },
      spec: {
        containers: [{ name: 'agent', image: 'registry.example/agent:1' }],
        affinity: {
          nodeAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: {
              nodeSelectorTerms: [{ matchFields }],
            },
          },
        },
      },
    };
    const description = `the admission policy in force for ${node}`;
    await pollUntil({ deadlineMs: DEADLINE_MS, description }, async () => {
      const path = '/api/v1/namespaces/default/pods?dryRun=All';
      const response = await stage.admin.request({ method: 'POST', path, body });
      return response.status === 422 || response.status === 403 ? true : undefined;
    });
  }
});
