/** docs/fleet.md, "Five minutes on a laptop": its commands as they stand there, on what `npm start -- --fleet` starts. */
import { describe, it } from 'node:test';
import { runPageTour, type ExpectedCommand } from '../../support/page-tour.ts';

const EXPECTED: readonly ExpectedCommand[] = [
  { command: /fleet status .* --watch/, code: 0, prints: /Done: generation 2 is rolled out/ },
  {
    command: /fleet plan -f/,
    code: 0,
    prints: /canary +1 .* 3 \(first 3 of each cluster\)[^]*agent:3\.0\.0/,
  },
  { command: /fleet apply -f/, code: 0, prints: /changed: generation 3, placed on 3 clusters/ },
  {
    command: /fleet status .* --watch/,
    code: 5,
    prints: /Halted[^]*ClustersFailed[^]*local-1[^]*StartFailure/,
  },
  { command: /rollout status local-1/, code: 0, prints: /StartFailure/ },
  { command: /fleet undo .* --watch/, code: 0, prints: /Returned: .* back at generation 2/ },
  { command: /fleet history/, code: 0, prints: /3 .*halted[^]*2 .*good/ },
  { command: /rollcall freeze .*--yes/, code: 0, prints: /Frozen: the whole stack/ },
  { command: /cluster list/, code: 0, prints: /INC-4711, cause unknown/ },
  { command: /rollcall thaw --yes/, code: 0, prints: /Thawed: the whole stack/ },
];

describe('docs/fleet.md on a laptop', { timeout: 900_000 }, () => {
  it('does in five minutes what it says', async () => {
    await runPageTour({
      page: 'fleet.md',
      section: 'Five minutes on a laptop',
      ready: /fleet: \S+ completed: /,
      expected: EXPECTED,
    });
  });
});
