/** docs/rollouts.md, "Ten minutes on a laptop": its commands as they stand there, with a real kubectl on what `npm start` starts. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, it } from 'node:test';
import { runPageTour } from '../../support/page-tour.ts';
import type { ExpectedCommand } from '../../support/page-tour.ts';
import { skipWithoutTools, TOOLS } from '../../support/require-tool.ts';
import { ensureBinaries } from '../control-plane/build.ts';

const EXPECTED: readonly ExpectedCommand[] = [
  { command: /annotate daemonset/, code: 0, prints: /annotated/ },
  { command: /log-collector:2'/, code: 0, prints: /image updated/ },
  { command: /status .* --watch/, code: 0, prints: /Done/ },
  { command: /log-collector:3-simulate-oom-8s'/, code: 0, prints: /image updated/ },
  { command: /status .* --watch/, code: 5, prints: /Halted[^]*OOMKilled/ },
  { command: /get events/, code: 0, prints: /RolloutHalted[^]*OOMKilled/ },
  { command: /undo .* --watch/, code: 0, prints: /Returned/ },
  { command: /log-collector:4'/, code: 0, prints: /image updated/ },
  { command: /status .* --watch/, code: 0, prints: /Done/ },
];

describe(
  'docs/rollouts.md on a laptop',
  { skip: skipWithoutTools([TOOLS.go]), timeout: 900_000 },
  () => {
    it('does in ten minutes what it says', async () => {
      const { kubectl } = await ensureBinaries();
      const directory = await mkdtemp(path.join(tmpdir(), 'rollcall-page-'));
      try {
        await runPageTour({
          page: 'rollouts.md',
          section: 'Ten minutes on a laptop',
          ready: /log-collector\s+9\s+9\s+9\s+9\s+9/,
          expected: EXPECTED,
          options: ['--data', directory],
          environment: { PATH: `${path.dirname(kubectl)}:${process.env['PATH'] ?? ''}` },
        });
      } finally {
        await rm(directory, { recursive: true, force: true });
      }
    });
  },
);
