/** Asking as somebody else, with the groups that kube-apiserver v1.36.3 gives. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { impersonate } from '../../../src/access/impersonation.ts';
import type { User } from '../../../src/api/request/api-request.ts';

const ADMIN: User = { name: 'admin', groups: ['system:masters', 'system:authenticated'] };

test('without headers the request is the own one', () => {
  assert.deepEqual(impersonate(ADMIN, {}), { kind: 'user', user: ADMIN });
});

const cases: readonly {
  readonly as: string;
  readonly groups?: string;
  readonly expected: readonly string[];
}[] = [
  { as: 'ann', expected: ['system:authenticated'] },
  { as: 'ann', groups: 'g, h', expected: ['g', 'h', 'system:authenticated'] },
  {
    as: 'system:serviceaccount:a:b',
    expected: ['system:serviceaccounts', 'system:serviceaccounts:a', 'system:authenticated'],
  },
  { as: 'system:serviceaccount:a:b', groups: 'g', expected: ['g', 'system:authenticated'] },
  { as: 'system:anonymous', expected: ['system:unauthenticated'] },
];

for (const { as, groups, expected } of cases) {
  test(`an administrator as ${as} of ${groups ?? 'no group'} is in ${expected.join(', ')}`, () => {
    const outcome = impersonate(ADMIN, {
      'impersonate-user': as,
      ...(groups === undefined ? {} : { 'impersonate-group': groups }),
    });
    assert.deepEqual(outcome, { kind: 'user', user: { name: as, groups: expected } });
  });
}

test('others may not', () => {
  const ann: User = { name: 'ann', groups: ['system:authenticated'] };
  const outcome = impersonate(ann, { 'impersonate-user': 'admin' });
  assert.equal(outcome.kind === 'refused' ? outcome.status.code : 0, 403);
});

test('groups need a user', () => {
  const outcome = impersonate(ADMIN, { 'impersonate-group': 'g' });
  assert.equal(outcome.kind === 'refused' ? outcome.status.code : 0, 500);
});
