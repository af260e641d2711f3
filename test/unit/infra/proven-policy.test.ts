/** The comparison of pods of a good revision is derived from the shipped one, and from all of it (ADR 0063). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { listedPolicy } from '../../../scripts/install/listed-policy.ts';
import {
  provenOwnerPolicy,
  provenPolicy,
  shippedOwnerPolicy,
} from '../../../scripts/install/proven-policy.ts';

const shipped = shippedOwnerPolicy();
const proven = provenPolicy(shipped);

describe('the policy for pods of a good revision', () => {
  it('compares with a PodTemplate, and reads nothing of a DaemonSet’s spec', () => {
    assert.equal(proven.spec.paramKind.kind, 'PodTemplate');
    assert.doesNotMatch(JSON.stringify(proven), /params\.spec/);
    assert.match(JSON.stringify(proven), /params\.template\.spec\.containers/);
  });

  it('has every comparison of the shipped one, and its own word on the owner', () => {
    const compared = (policy: typeof shipped): readonly string[] =>
      policy.spec.validations
        .map(({ message }) => message)
        .filter((message) => message.startsWith('template: '));
    assert.deepEqual(compared(proven), compared(shipped));
    assert.ok(compared(shipped).length > 10);
    assert.match(proven.spec.validations[0]?.message ?? '', /must be of its owner/);
    const owners = provenOwnerPolicy(shipped).spec.validations.map(({ message }) => message);
    assert.equal(owners.length, 2);
  });

  it('lets the label through that names a copy, wherever the shipped one lets labels through', () => {
    const labels = (policy: typeof shipped): string =>
      policy.spec.validations.find(({ message }) => message.includes('labels differ'))
        ?.expression ?? '';
    assert.doesNotMatch(labels(shipped), /rollcall\.dev\/revision/);
    assert.equal(labels(proven).split("'rollcall.dev/revision'").length - 1, 2);
  });
});

describe('the list of a DaemonSet', () => {
  it('leaves pods that name a copy to the bindings of its copies, which deny without one', () => {
    const manifests = listedPolicy([{ namespace: 'n', name: 'agent', labels: { app: 'agent' } }]);
    const bindings = manifests.flatMap((manifest) => {
      const { metadata, spec } = manifest as {
        readonly metadata: { readonly name: string };
        readonly spec: {
          readonly paramRef?: { readonly name?: string; readonly parameterNotFoundAction: string };
          readonly matchResources?: { readonly objectSelector: object };
        };
      };
      return spec.paramRef === undefined ? [] : [{ name: metadata.name, ...spec }];
    });
    const selected = (name: string): unknown =>
      bindings.find((each) => each.name === name)?.matchResources?.objectSelector;
    const marked = (operator: string, ...values: readonly string[]): object => ({
      matchLabels: { app: 'agent' },
      matchExpressions: [{ key: 'rollcall.dev/revision', operator, values }],
    });
    assert.deepEqual(selected('rollcall-owner.n.agent'), marked('NotIn', 'proven-a', 'proven-b'));
    assert.deepEqual(selected('rollcall-proven-a.n.agent'), marked('In', 'proven-a'));
    assert.deepEqual(selected('rollcall-proven-b.n.agent'), marked('In', 'proven-b'));
    for (const { paramRef } of bindings) assert.equal(paramRef?.parameterNotFoundAction, 'Deny');
  });
});
