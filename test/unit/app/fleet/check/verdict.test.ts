// What an answer to a server-side dry run says: only a conflict and a refusal of the manifest itself speak against it.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { problemsOf, verdictOf } from '../../../../../src/app/fleet/check/ask-clusters.ts';
import { clusterId } from '../../../../../src/core/model/identifiers.ts';
import type { Answer } from '../../../../../src/app/fleet/send-manifest.ts';

const EKS = {
  authentication: { kind: 'eks', clusterName: 'a', region: 'eu-west-1' },
} as const;
const OWN = { authentication: { kind: 'bearer', token: 'x' } } as const;

function refused(status: number, message: string): Answer {
  return { kind: 'failed', cause: 'Refused', status, message };
}

const FORBIDDEN =
  'daemonsets.apps "agent" is forbidden: User "ann" cannot patch resource "daemonsets" in API group "apps" in the namespace "monitoring"';

describe('verdictOf', () => {
  for (const [what, outcome, kind] of [
    ['a right that whoever asks does not have', [403, FORBIDDEN]],
    ['another request that is bad', [400, 'the request is bad'], 'refused'],
    ['an admission policy', [403, 'pods "x" is forbidden: violates PodSecurity'], 'refused'],
    ['a violation', [422, 'spec.selector: Invalid value: field is immutable'], 'refused'],
    [
      'a namespace that does not exist',
      [404, 'the namespace monitoring does not exist'],
      'refused',
    ],
  ] as const) {
    it(`takes ${what} for ${kind ?? 'not checked'}`, () => {
      const [status, message] = outcome;
      const verdict = verdictOf(refused(status, message), EKS);
      assert.equal(verdict.kind, kind ?? 'not-checked');
      assert.ok('message' in verdict && verdict.message.includes(message));
    });
  }

  it('takes a missing right of the registered credential for what the functions would meet', () => {
    assert.equal(verdictOf(refused(403, FORBIDDEN), OWN).kind, 'refused');
  });

  it('takes what is not known, and whom it cannot reach, for not checked', () => {
    for (const answer of [
      { kind: 'unanswered', message: 'timed out' },
      { kind: 'failed', cause: 'Refused', message: 'another cluster answers at its address' },
    ] as const) {
      assert.equal(verdictOf(answer, EKS).kind, 'not-checked');
    }
  });
});

describe('problemsOf', () => {
  it('names owner and field of every conflict, and says what is refused', () => {
    const conflicts = [
      { manager: 'argocd', field: '.spec.a' },
      { manager: 'kubectl', field: '.spec.b' },
    ];
    const problems = problemsOf([
      { id: clusterId('a'), kind: 'conflict', conflicts },
      { id: clusterId('b'), kind: 'refused', message: 'no' },
      { id: clusterId('c'), kind: 'not-checked', message: 'no route' },
      { id: clusterId('d'), kind: 'accepted' },
    ]);
    assert.deepEqual(problems, [
      { cluster: 'a', field: '.spec.a', message: 'is owned by argocd' },
      { cluster: 'a', field: '.spec.b', message: 'is owned by kubectl' },
      { cluster: 'b', field: '', message: 'no' },
    ]);
  });
});
