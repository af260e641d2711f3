/** docs/try-it.md, "In a second terminal": its commands as they stand there, with a real kubectl on what `npm start` starts. */
import path from 'node:path';
import { describe, it } from 'node:test';
import { runPageTour, type ExpectedCommand } from '../../support/page-tour.ts';
import { skipWithoutTools, TOOLS } from '../../support/require-tool.ts';
import { ensureBinaries } from '../control-plane/build.ts';

const EXPECTED: readonly ExpectedCommand[] = [
  { command: /get nodes/, code: 0, prints: /daemonset\.apps\/log-collector/ },
  { command: /rollcall status/, code: 0, prints: /2 of 2 clusters/ },
  { command: /why node-agents\/log-collector/, code: 0, prints: /local-1[^]*local-2/ },
  { command: /log --since/, code: 0, prints: /local-1/ },
];

describe(
  'docs/try-it.md on a laptop',
  { skip: skipWithoutTools([TOOLS.go]), timeout: 600_000 },
  () => {
    it('shows in a second terminal what it says', async () => {
      const { kubectl } = await ensureBinaries();
      await runPageTour({
        page: 'try-it.md',
        section: 'In a second terminal',
        ready: /log-collector\s+9\s+9\s+9\s+9\s+9/,
        expected: EXPECTED,
        environment: { PATH: `${path.dirname(kubectl)}:${process.env['PATH'] ?? ''}` },
      });
    });
  },
);
