/** Names and content of the copies of good templates, and whose they are (ADR 0063). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonObject } from '@rollcall/base/json.ts';
import type { DaemonSetObject, KubernetesObject } from '@rollcall/base/objects.ts';
import {
  buildCopy,
  copyName,
  isCopyOfOwner,
  isSameCopy,
} from '../../../../src/core/admission/template-copy.ts';
import { daemonSet } from '../../../support/core-fixtures.ts';

const SET = daemonSet();
const copy = (set: DaemonSetObject = SET, hash = 'aaaa'): JsonObject =>
  buildCopy(set, { slot: 'a', hash });
const live = (body: JsonObject, change: object = {}): KubernetesObject =>
  ({ ...structuredClone(body), ...change }) as unknown as KubernetesObject; // raw JSON

describe('the copy of a template', () => {
  it('has a name that follows from its DaemonSet, and fits however long that is', () => {
    assert.equal(copyName('agent', 'b'), 'agent-rollcall-proven-b');
    const long = 'x'.repeat(253);
    assert.equal(copyName(long, 'a').length, 241);
  });

  it('is owned and not controlled, and says which revision and which slot it is', () => {
    const { metadata } = live(copy());
    const [owner] = metadata.ownerReferences ?? [];
    assert.equal(owner?.uid, SET.metadata.uid);
    assert.equal(owner.controller, undefined);
    assert.equal(metadata.labels?.['rollcall.dev/revision'], 'proven-a');
    assert.equal(metadata.annotations?.['rollcall.dev/revision-hash'], 'aaaa');
  });

  it('takes with it what admission reads beside the template, and nothing else', () => {
    const annotations = {
      'eks.amazonaws.com/role-arn': 'arn:aws:iam::111111111111:role/agent',
      'rollcall.dev/rollout': '{}',
    };
    const set = { ...SET, metadata: { ...SET.metadata, annotations } };
    assert.deepEqual(Object.keys(live(copy(set)).metadata.annotations ?? {}), [
      'eks.amazonaws.com/role-arn',
      'rollcall.dev/revision-hash',
    ]);
  });

  it('is the same under another version, and with the empty time of an older API server', () => {
    const body = copy();
    const metadata = { ...(body['metadata'] as JsonObject), resourceVersion: '7', uid: 'c-1' };
    assert.ok(isSameCopy(live(body, { metadata }), body));
    const template = body['template'] as JsonObject;
    const timed = {
      ...template,
      metadata: { ...(template['metadata'] as JsonObject), creationTimestamp: null },
    };
    assert.ok(isSameCopy(live(body, { template: timed }), body));
  });

  it('is another one with other content, or of another revision', () => {
    const body = copy();
    const template = { ...(body['template'] as JsonObject), spec: { hostPID: true } };
    assert.ok(!isSameCopy(live(body, { template }), body));
    assert.ok(!isSameCopy(live(copy(SET, 'bbbb')), body));
    assert.ok(!isSameCopy(live(body, { template: {} }), body));
    assert.ok(!isSameCopy(live(body, { template: undefined }), body));
  });

  it('is the owner’s if it has that owner alone', () => {
    const { uid } = SET.metadata;
    const body = live(copy());
    assert.ok(isCopyOfOwner(body, uid));
    assert.ok(!isCopyOfOwner(body, 'another'));
    const [owner] = body.metadata.ownerReferences ?? [];
    assert.ok(owner !== undefined);
    const shared = { ...body.metadata, ownerReferences: [owner, { ...owner, uid: 'another' }] };
    assert.ok(!isCopyOfOwner({ ...body, metadata: shared }, uid));
    assert.ok(
      !isCopyOfOwner({ ...body, metadata: { ...body.metadata, ownerReferences: [] } }, uid),
    );
  });
});
