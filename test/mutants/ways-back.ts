/**
 * Bugs by which the way back to a good release is rolled out like a new one, or leads to what it left.
 */
import type { PlantedBug } from './planted-bug.ts';

const WAY_BACK_TEST = 'test/unit/app/reconcile/way-back.test.ts';

/** The rows of ways back. */
export const WAY_BACK_BUGS: Readonly<Record<string, PlantedBug>> = {
  'back-return-is-untried': {
    bug: 'a revert to a good release is rolled out like an untried one: canary, soak, approval and window',
    file: 'src/core/stages/start-record.ts',
    before: "const isReturn = judged.kind === 'return' && ",
    after: "const isReturn = judged.kind === 'older' && ",
    killedBy: { file: WAY_BACK_TEST, title: 'takes a revert to all nodes at once' },
  },
  'back-left-release-stays-good': {
    bug: 'a release that was left for an older good one comes back everywhere at once',
    file: 'src/core/rollout/good-releases.ts',
    before: 'const kept = good.slice(good.indexOf(judged.release));',
    after: 'const kept = good;',
    killedBy: { file: WAY_BACK_TEST, title: 'A, B, A, B' },
  },
  'back-good-by-revision-hash': {
    bug: 'a good release whose revision was trimmed and made anew is a new one',
    file: 'src/core/stages/start-record.ts',
    before: 'each.hash === hash || each.id === id ? { ...each, hash, id }',
    after: 'each.hash === hash ? { ...each, id }',
    killedBy: {
      file: 'test/unit/core/stages/start-record.test.ts',
      title: 'knows a good release by what its template means',
    },
  },
  'back-undone-is-not-refused': {
    bug: 'a release that an operator undid is rolled out again when GitOps applies it',
    file: 'src/core/stages/order-nodes.ts',
    before: "refused: refuseRelease(record, { cause: 'Undone', atMs }),",
    after: '',
    killedBy: { file: WAY_BACK_TEST, title: 'holds the release that was undone' },
  },
};
