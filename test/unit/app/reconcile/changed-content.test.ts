/**
 * Content of ConfigMaps and Secrets under a policy (ADR 0058): a template that changes with it is rolled out in steps, as an
 * image is, and has a way back; the label that an earlier release gave pods restarts nobody.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DaemonSetObject, KubernetesObject } from '@rollcall/base/objects.ts';
import type { ReconcileWorld } from '../../../support/reconcile-world.ts';
import { HOURS_MS, stagedSetWorld } from '../../../support/staged-set-world.ts';

const MINUTE_MS = 60_000;
const POLICY = 'canary: {nodes: 1}\nsoak: 10m\nmaxUnavailable: 2\nonHalt: rollback';

type Template = DaemonSetObject['spec']['template'];

/** How a template changes with a content: by the name of the ConfigMap (kustomize), or by an annotation (Helm). */
const CHANGES: Readonly<Record<string, (template: Template, content: string) => Template>> = {
  'a ConfigMap whose name has a hash': ({ spec, ...rest }, content) => ({
    ...rest,
    spec: {
      ...spec,
      volumes: [{ name: 'settings', configMap: { name: `settings-${content}` } }],
    },
  }),
  'an annotation with a checksum': ({ metadata, ...rest }, content) => ({
    ...rest,
    metadata: { ...metadata, annotations: { 'checksum/config': content } },
  }),
};

function apply(made: ReconcileWorld, change: (template: Template) => Template): void {
  made.edit(({ template }) => ({ template: change(template) }));
}

const podsWith = (made: ReconcileWorld, content: string): readonly KubernetesObject[] =>
  made.pods.filter(({ spec }) => JSON.stringify(spec).includes(content));
const uidsOf = ({ pods }: ReconcileWorld): readonly string[] =>
  pods.map(({ metadata }) => metadata.uid).sort();

describe('content that the template changes with', () => {
  for (const [what, change] of Object.entries(CHANGES)) {
    for (const mode of ['takeover', 'copilot'] as const) {
      it(`goes to the canary, soaks, and then to all others: ${what} (${mode})`, async () => {
        const made = stagedSetWorld({ mode, policy: POLICY });
        apply(made, (template) => change(template, '7f9k2m'));
        await made.settle();
        const before = uidsOf(made);
        const kept = (): number => uidsOf(made).filter((each) => before.includes(each)).length;
        apply(made, (template) => change(template, 'c4t8bd'));
        await made.settle({ withinMs: 5 * MINUTE_MS });
        assert.deepEqual([kept(), made.pods.length], [5, 6], 'the canary');
        await made.settle({ withinMs: HOURS_MS });
        assert.deepEqual([kept(), made.pods.length], [0, 6]);
      });
    }
  }

  it('is taken back by a rollback where its object has a name of its own: nodes get the former name', async () => {
    const change = CHANGES['a ConfigMap whose name has a hash'] ?? assert.fail();
    const made = stagedSetWorld({ policy: POLICY });
    apply(made, (template) => change(template, '7f9k2m'));
    await made.settle();
    apply(made, (template) => change(template, 'c4t8bd'));
    await made.settle({ withinMs: 5 * MINUTE_MS });
    for (const { metadata } of podsWith(made, 'c4t8bd')) {
      const lastState = { terminated: { reason: 'OOMKilled', exitCode: 137 } };
      made.cluster.change('pods', { namespace: 'system', name: metadata.name }, (pod) => ({
        ...pod,
        status: {
          ...(pod['status'] as object),
          containerStatuses: [{ name: 'agent', restartCount: 1, lastState }],
        },
      }));
    }
    await made.settle({ withinMs: HOURS_MS });
    assert.equal(podsWith(made, '7f9k2m').length, 6);
  });
});

describe('a pod with the content label of an earlier release', () => {
  it('is of its template: nothing restarts because of the label, nor because of the field `config`', async () => {
    const made = stagedSetWorld({ policy: `${POLICY}\nconfig: {configMaps: [settings]}` });
    await made.settle();
    const before = uidsOf(made);
    for (const [index, { metadata }] of made.pods.entries()) {
      const label = { 'rollcall.dev/config-hash': `0a0a0a0a.${String(index % 2)}` };
      made.cluster.change('pods', { namespace: 'system', name: metadata.name }, (pod) => ({
        ...pod,
        metadata: { ...pod.metadata, labels: { ...pod.metadata.labels, ...label } },
      }));
    }
    await made.settle({ withinMs: HOURS_MS });
    assert.deepEqual(uidsOf(made), before);
    assert.equal(made.daemonSet.status?.updatedNumberScheduled, 6);
  });
});
