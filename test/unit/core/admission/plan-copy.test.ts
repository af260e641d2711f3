/** When a copy is written, and in which of the two places (ADR 0063). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ProvenRevision } from '../../../../src/core/model/rollout-record.ts';
import type { TemplateCopy } from '../../../../src/core/model/state.ts';
import {
  COPY_CHECK_MS,
  COPY_RETRY_MS,
  planCopy,
  withCopy,
} from '../../../../src/core/admission/plan-copy.ts';
import { context, state } from '../../../support/core-fixtures.ts';
import { policy } from '../../../support/staged-world.ts';

const NOW_MS = 1_000_000_000;
const revision = (hash: string): ProvenRevision => ({ hash, provenAtMs: 0, isBaseline: false });
const held = (slot: TemplateCopy['slot'], hash: string, seenAtMs = NOW_MS): TemplateCopy => ({
  slot,
  hash,
  seenAtMs,
});
const record = (hash: string, proven?: string, former?: string) => ({
  hash,
  ...(proven === undefined ? {} : { proven: revision(proven) }),
  ...(former === undefined ? {} : { former: revision(former) }),
});
const plan = (
  of: ReturnType<typeof record>,
  copies: readonly TemplateCopy[] = [],
  refusedAtMs?: number,
) => {
  const known = { held: copies, ...(refusedAtMs === undefined ? {} : { refusedAtMs }) };
  return planCopy(of, context({ ...TAKEOVER, state: { ...state(), copies: known } }), NOW_MS).copy;
};
const TAKEOVER = {
  staging: {
    reading: { kind: 'policy', policy: policy() },
    mode: 'takeover',
    seenView: '1/1',
    isViewFresh: true,
    unheardMs: 0,
  },
} as const;

describe('the copy that a run sees to', () => {
  it('is that of the present template, once that is proven', () => {
    const { copy } = planCopy(record('a', 'a'), context(TAKEOVER), NOW_MS);
    assert.deepEqual(copy, { hash: 'a', slot: 'a' });
  });

  it('is none while the template is another revision than the good one', () => {
    assert.equal(plan(record('b', 'a', 'a')), undefined);
    assert.equal(plan(record('b')), undefined);
  });

  it('is none in copilot, or where the run may not act', () => {
    const copilot = { staging: { ...TAKEOVER.staging, mode: 'copilot' } } as const;
    const guard = { kind: 'status-only', code: 'frozen', message: 'frozen' } as const;
    for (const options of [copilot, { ...TAKEOVER, guard }, {}]) {
      assert.deepEqual(planCopy(record('a', 'a'), context(options), NOW_MS), {});
    }
  });

  it('leaves the former revision’s alone, to which a late breach leads', () => {
    const wish = plan(record('b', 'b', 'a'), [held('a', 'a')]);
    assert.deepEqual(wish, { hash: 'b', slot: 'b' });
    const next = plan(record('c', 'c', 'b'), [held('a', 'a'), held('b', 'b')]);
    assert.deepEqual(next, { hash: 'c', slot: 'a' });
  });

  it('takes the place of the older one where neither is needed', () => {
    const copies = [held('a', 'x', NOW_MS - 5), held('b', 'y', NOW_MS - 9)];
    assert.equal(plan(record('z', 'z'), copies)?.slot, 'b');
  });

  it('is looked at again after hours, in its own place', () => {
    assert.equal(plan(record('a', 'a'), [held('b', 'a')]), undefined);
    const old = held('b', 'a', NOW_MS - COPY_CHECK_MS);
    assert.deepEqual(plan(record('a', 'a'), [old]), { hash: 'a', slot: 'b' });
  });

  it('waits after a refusal', () => {
    assert.equal(plan(record('a', 'a'), [], NOW_MS - COPY_RETRY_MS + 1), undefined);
    assert.notEqual(plan(record('a', 'a'), [], NOW_MS - COPY_RETRY_MS), undefined);
  });

  it('is remembered in its place, and ends a refusal', () => {
    const before = { held: [held('b', 'old'), held('a', 'a')], refusedAtMs: 5 };
    assert.deepEqual(withCopy(before, held('b', 'new')), {
      held: [held('a', 'a'), held('b', 'new')],
    });
    assert.deepEqual(withCopy(undefined, held('a', 'a')), { held: [held('a', 'a')] });
  });
});
