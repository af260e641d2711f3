/** Who wrote what a shrink is blamed on, by managedFields: evidence for a person. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import { nodeName } from '../../../../src/core/model/identifiers.ts';
import { findAuthor } from '../../../../src/core/removal-guard/removal-author.ts';
import { NOW_MS } from '../../../support/core-fixtures.ts';

const LABELS = { kind: 'node', node: nodeName('n1'), part: 'labels' } as const;
const TAINTS = { ...LABELS, part: 'taints' } as const;
const EDIT = { kind: 'daemon-set' } as const;

const at = (agoMs: number): string => new Date(NOW_MS - agoMs).toISOString();
const labels = { 'f:metadata': { 'f:labels': { 'f:pool': {} } } };
const taints = { 'f:spec': { 'f:taints': {} } };
const template = { 'f:spec': { 'f:template': { 'f:spec': { 'f:nodeSelector': {} } } } };

function written(...managedFields: readonly unknown[]): KubernetesObject {
  const metadata = { name: 'n1', uid: 'u', resourceVersion: '1', managedFields };
  return { metadata };
}

describe('the author of a change', () => {
  const node = written(
    { manager: 'old-tool', operation: 'Update', time: at(60_000), fieldsV1: labels },
    { manager: 'label-cleaner', operation: 'Update', time: at(10_000), fieldsV1: labels },
    { manager: 'tainter', operation: 'Update', time: at(5_000), fieldsV1: taints },
    { manager: 'kubelet', subresource: 'status', time: at(1_000), fieldsV1: labels },
  );

  it('is who wrote that part last, and no writer of the status', () => {
    assert.equal(findAuthor(node, LABELS, NOW_MS)?.manager, 'label-cleaner');
    assert.deepEqual(findAuthor(node, TAINTS, NOW_MS), {
      manager: 'tainter',
      atMs: NOW_MS - 5_000,
    });
    const set = written({ manager: 'argocd', time: at(0), fieldsV1: template });
    assert.equal(findAuthor(set, EDIT, NOW_MS)?.manager, 'argocd');
    assert.equal(findAuthor(set, LABELS, NOW_MS), undefined);
  });

  it('is nobody who wrote long ago, and none of what is not to be read', () => {
    const old = written({ manager: 'old-tool', time: at(31 * 60_000), fieldsV1: labels });
    assert.equal(findAuthor(old, LABELS, NOW_MS), undefined);
    const broken = [
      null,
      'text',
      { manager: 5, time: at(0), fieldsV1: labels },
      { manager: 'x', time: 'yesterday', fieldsV1: labels },
      { manager: 'x', time: at(0), fieldsV1: 'labels' },
    ];
    assert.equal(findAuthor(written(...broken), LABELS, NOW_MS), undefined);
    assert.equal(findAuthor({ metadata: old.metadata, managedFields: 5 }, EDIT, NOW_MS), undefined);
    const many = { manager: 'x'.repeat(5_000), time: at(0), fieldsV1: labels };
    assert.equal(findAuthor(written(many), LABELS, NOW_MS)?.manager.length, 128);
  });
});
