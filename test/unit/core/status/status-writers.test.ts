/** Foreign status writes, by managedFields. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import { findForeignStatusWrite } from '../../../../src/core/status/status-writers.ts';

const SINCE_MS = Date.parse('2026-01-01T00:00:00Z');

function written(change: Record<string, unknown>): KubernetesObject {
  const entry = {
    manager: 'kube-controller-manager',
    operation: 'Update',
    subresource: 'status',
    time: '2026-01-01T00:00:01Z',
    fieldsV1: { 'f:status': { 'f:observedGeneration': {} } },
    ...change,
  };
  const metadata = { name: 'agents', namespace: 'system', uid: 'u', resourceVersion: '1' };
  return { metadata: { ...metadata, managedFields: [entry] } as KubernetesObject['metadata'] };
}

describe('findForeignStatusWrite', () => {
  it('names the writer and the DaemonSet', () => {
    assert.equal(
      findForeignStatusWrite(written({}), SINCE_MS),
      'kube-controller-manager wrote the status of DaemonSet system/agents after takeover',
    );
  });

  it('counts only another manager’s younger update of a counter', () => {
    const innocent: readonly Record<string, unknown>[] = [
      { manager: 'rollcall' },
      { manager: 'kubectl-patch' },
      { manager: 'kubectl-edit' },
      { time: '2026-01-01T00:00:00Z' },
      { time: undefined },
      { subresource: undefined },
      { operation: 'Apply' },
      { fieldsV1: { 'f:status': { 'f:conditions': {} } } },
      { fieldsV1: { 'f:metadata': {} } },
      { fieldsV1: undefined },
    ];
    for (const change of innocent) {
      assert.equal(
        findForeignStatusWrite(written(change), SINCE_MS),
        undefined,
        JSON.stringify(change),
      );
    }
  });

  it('takes no controller for a person because kubectl is in its name', () => {
    const [manager] = ['not-kubectl'];
    assert.match(
      findForeignStatusWrite(written({ manager }), SINCE_MS) ?? '',
      /^not-kubectl wrote/,
    );
  });

  it('names a DaemonSet without namespace, too', () => {
    const { metadata } = written({});
    const { namespace: _none, ...bare } = metadata;
    assert.match(
      findForeignStatusWrite({ metadata: bare }, SINCE_MS) ?? '',
      /of DaemonSet \/agents after takeover$/,
    );
  });

  it('knows nothing without a time of takeover, or without managedFields', () => {
    assert.equal(findForeignStatusWrite(written({}), undefined), undefined);
    const metadata = { name: 'agents', uid: 'u', resourceVersion: '1' };
    assert.equal(findForeignStatusWrite({ metadata }, SINCE_MS), undefined);
  });
});
