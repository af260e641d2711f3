/** Foreign status writes, by managedFields. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubernetesObject } from '@rollcall/base/objects.ts';
import { clusterUid, uid } from '../../../../src/core/model/identifiers.ts';
import { registrationOf } from '../../../support/simulation/registration.ts';
import {
  PAUSE_MS,
  findStatusPause,
  guardOfPause,
} from '../../../../src/core/status/status-writers.ts';

const SINCE_MS = Date.parse('2026-01-01T00:00:00Z');
const AT = '2026-01-01T00:00:01Z';
const AT_MS = Date.parse(AT);
/** The API server's clock is an hour ahead of ours. */
const AHEAD_MS = 3_600_000;

function written(change: Record<string, unknown>): KubernetesObject {
  const entry = {
    manager: 'kube-controller-manager',
    operation: 'Update',
    subresource: 'status',
    time: AT,
    fieldsV1: { 'f:status': { 'f:observedGeneration': {} } },
    ...change,
  };
  const metadata = { name: 'agents', namespace: 'system', uid: 'u', resourceVersion: '1' };
  return { metadata: { ...metadata, managedFields: [entry] } as KubernetesObject['metadata'] };
}

function pauseOf(
  change: Record<string, unknown>,
  { answeredAtMs = AT_MS, sinceMs = SINCE_MS } = {},
) {
  const nowMs = answeredAtMs - AHEAD_MS;
  return findStatusPause(written(change), { sinceMs, answeredAtMs, nowMs });
}

describe('findStatusPause', () => {
  it('names the writer, and ends ten minutes after the write by whichever clock', () => {
    const untilMs = AT_MS + PAUSE_MS - AHEAD_MS;
    const pause = { manager: 'kube-controller-manager', atMs: AT_MS, untilMs };
    assert.deepEqual(pauseOf({}), pause);
    assert.deepEqual(pauseOf({}, { answeredAtMs: AT_MS + PAUSE_MS - 1 }), pause);
    assert.equal(pauseOf({}, { answeredAtMs: AT_MS + PAUSE_MS }), undefined);
  });

  it('counts no time that is ahead of the API server', () => {
    assert.equal(pauseOf({ time: '2099-01-01T00:00:00Z' }), undefined);
    assert.equal(pauseOf({ time: '2026-01-01T00:00:02Z' }), undefined);
  });

  it('never lasts longer than the pause, whatever time was forged', () => {
    for (const time of [
      '1970-01-01T00:00:00Z',
      '2025-12-31T23:59:59Z',
      AT,
      '9999-12-31T23:59:59Z',
      'x',
    ])
      for (const answeredAtMs of [AT_MS, AT_MS + 1, AT_MS + PAUSE_MS / 2, AT_MS + 2 * PAUSE_MS]) {
        const nowMs = answeredAtMs - AHEAD_MS;
        const until = pauseOf({ time }, { answeredAtMs, sinceMs: -Infinity })?.untilMs ?? nowMs;
        assert.ok(until >= nowMs && until <= nowMs + PAUSE_MS, `${time} ${String(until - nowMs)}`);
      }
  });

  it('goes by the newest of several writers', () => {
    const [{ metadata }, other] = [
      written({}),
      written({ manager: 'tool', time: '2026-01-01T00:00:03Z' }),
    ];
    const managedFields = [other, { metadata }].flatMap((each) => managedFieldsOf(each));
    const object = { metadata: { ...metadata, managedFields } };
    const times = { sinceMs: SINCE_MS, answeredAtMs: AT_MS + 9_000, nowMs: 0 };
    assert.equal(findStatusPause(object, times)?.manager, 'tool');
  });

  it('counts only another manager’s younger update of a counter', () => {
    const innocent: readonly Record<string, unknown>[] = [
      { manager: 'rollcall' },
      { manager: 'kubectl-patch' },
      { manager: 'kubectl-edit' },
      { manager: 7 },
      { time: '2026-01-01T00:00:00Z' },
      { time: 'yesterday' },
      { time: undefined },
      { subresource: undefined },
      { operation: 'Apply' },
      { fieldsV1: { 'f:status': { 'f:conditions': {} } } },
      { fieldsV1: { 'f:metadata': {} } },
      { fieldsV1: undefined },
    ];
    for (const change of innocent) assert.equal(pauseOf(change), undefined, JSON.stringify(change));
  });

  it('takes no controller for a person because kubectl is in its name, and keeps 128 characters of it', () => {
    assert.equal(pauseOf({ manager: 'not-kubectl' })?.manager, 'not-kubectl');
    assert.equal(pauseOf({ manager: 'x'.repeat(4_000) })?.manager.length, 128);
  });

  it('knows nothing without a time of takeover, or without managedFields', () => {
    const times = { answeredAtMs: AT_MS, nowMs: AT_MS };
    assert.equal(findStatusPause(written({}), { ...times, sinceMs: undefined }), undefined);
    const metadata = { name: 'agents', uid: 'u', resourceVersion: '1' };
    assert.equal(findStatusPause({ metadata }, { ...times, sinceMs: SINCE_MS }), undefined);
  });
});

describe('guardOfPause', () => {
  const paused = { manager: 'tool', atMs: AT_MS, untilMs: AT_MS + PAUSE_MS };
  const registration = {
    ...registrationOf(clusterUid('a')),
    mode: 'takeover',
    sentinel: { uid: uid('sentinel'), createdAtMs: SINCE_MS },
  } as const;
  const codeOf = (nowMs: number, change: object = {}) => {
    const guard = guardOfPause(paused, { ...registration, ...change }, nowMs);
    return guard !== undefined && guard.kind !== 'act' ? guard.code : undefined;
  };

  it('stands until the pause is over, also by a clock that is a little behind', () => {
    assert.equal(codeOf(AT_MS), 'conflict-suspected');
    assert.equal(codeOf(AT_MS - 5_000), 'conflict-suspected');
    assert.equal(codeOf(AT_MS + PAUSE_MS - 1), 'conflict-suspected');
    assert.equal(codeOf(AT_MS + PAUSE_MS), undefined);
  });

  it('is none of a clock that was far ahead, of an earlier takeover, in another mode, or without a pause', () => {
    assert.equal(codeOf(AT_MS - PAUSE_MS - 1), undefined);
    const sentinel = { uid: uid('next'), createdAtMs: AT_MS };
    assert.equal(codeOf(AT_MS, { sentinel }), undefined);
    assert.equal(codeOf(AT_MS, { mode: 'copilot' }), undefined);
    assert.equal(guardOfPause(undefined, registration, AT_MS), undefined);
  });
});

function managedFieldsOf({ metadata }: Pick<KubernetesObject, 'metadata'>): readonly unknown[] {
  return (metadata as { readonly managedFields?: readonly unknown[] }).managedFields ?? [];
}
