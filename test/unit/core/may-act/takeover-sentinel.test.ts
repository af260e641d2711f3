/** The sentinel: known by name, namespace and label, believed by its UID. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { uid } from '../../../../src/core/model/identifiers.ts';
import type { JsonObject } from '@rollcall/base/json.ts';
import type { DaemonSetObject } from '@rollcall/base/objects.ts';
import {
  SENTINEL_KEY,
  findSentinelEvidence,
  hasSentinelName,
  isObserved,
  isSentinel,
  sentinelBody,
} from '../../../../src/core/may-act/takeover-sentinel.ts';

const SENTINEL = { uid: uid('sentinel'), createdAtMs: 1 };

function standing(observedGeneration?: number): DaemonSetObject {
  const body = sentinelBody('x') as unknown as DaemonSetObject; // raw JSON of a DaemonSet
  const counters = { numberReady: 0, desiredNumberScheduled: 0, currentNumberScheduled: 0 };
  const status = {
    ...counters,
    numberMisscheduled: 0,
    observedGeneration: observedGeneration ?? 0,
  };
  const metadata = { ...body.metadata, uid: 'sentinel', resourceVersion: '1' };
  return { ...body, metadata, ...(observedGeneration === undefined ? {} : { status }) };
}

describe('the sentinel', () => {
  it('selects nothing but its own pods, on nodes that do not exist', () => {
    const { spec, metadata } = standing();
    const { labels } = spec.template.metadata ?? {};
    assert.equal(labels?.['rollcall.dev/probe'], 'x');
    assert.deepEqual(spec.selector, { matchLabels: { 'rollcall.dev/probe': 'x' } });
    assert.deepEqual(Object.keys(spec.template.spec?.nodeSelector ?? {}), [
      'rollcall.dev/takeover-probe',
    ]);
    assert.equal(metadata.name, SENTINEL_KEY.name);
  });

  it('is an object that an API server accepts', () => {
    const { apiVersion, kind, spec } = sentinelBody('x') as unknown as DaemonSetObject & JsonObject;
    assert.deepEqual({ apiVersion, kind }, { apiVersion: 'apps/v1', kind: 'DaemonSet' });
    const { nodeSelector, containers } = spec.template.spec ?? {};
    // Values of labels and names of containers are not empty, and an image is named in full.
    assert.match(Object.values(nodeSelector ?? {}).join(), /^[a-z-]+$/);
    const [container, ...others] = containers as readonly { name: string; image: string }[];
    assert.match(container?.name ?? '', /^[a-z]+$/);
    assert.match(container?.image ?? '', /^registry\.k8s\.io\/pause:[0-9.]+$/);
    assert.deepEqual(others, []);
  });

  it('is known by name, namespace and label', () => {
    assert.equal(isSentinel(standing()), true);
    const { metadata, spec } = standing();
    assert.equal(isSentinel({ metadata: { ...metadata, labels: {} }, spec }), false);
    assert.equal(isSentinel({ metadata: { ...metadata, namespace: 'default' }, spec }), false);
    assert.equal(hasSentinelName({ name: SENTINEL_KEY.name }), false);
    assert.equal(hasSentinelName({ ...SENTINEL_KEY, name: 'another' }), false);
  });

  it('gives a controller away once it is observed, and only as the one of this takeover', () => {
    assert.equal(isObserved(standing()), false);
    assert.equal(findSentinelEvidence(standing(), SENTINEL), undefined);
    assert.equal(findSentinelEvidence(standing(0), SENTINEL), undefined);
    assert.match(findSentinelEvidence(standing(1), SENTINEL) ?? '', /observedGeneration.*became 1/);
    assert.equal(findSentinelEvidence(standing(1), undefined), undefined);
    const other = { ...SENTINEL, uid: uid('another') };
    assert.equal(findSentinelEvidence(standing(1), other), undefined);
  });
});
