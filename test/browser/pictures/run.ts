/**
 * `node scripts/launch.mjs test/browser/pictures/run.ts` draws docs/page-*.png anew: the page on what `npm start` runs, once a bad
 * release was halted in the first of six local clusters. It takes two minutes.
 */
import { statSync } from 'node:fs';
import path from 'node:path';
import { repositoryRoot } from '../../../scripts/lib/run-tool.ts';
import { startChromium } from '../../support/browser/chromium.ts';
import { launchStart } from '../../support/browser/running-start.ts';
import { openVisit, show, type Look } from '../../support/browser/visit.ts';

const START = ['--clusters', '6', '--nodes', '40', '--inject', 'crash-loop'];
const HALT_BOUND_MS = 300_000;
const BYTES_MAX = 150_000;
const ROLLOUT = '/rollouts/local-1/node-agents/log-collector';

interface Picture extends Look {
  readonly height: number;
  readonly file: string;
  readonly path: string;
  /** It is drawn once the page says so. */
  readonly text: RegExp;
}

const PICTURES: readonly Picture[] = [
  {
    file: 'docs/page-fleet.png',
    path: '/',
    text: /Halted[^]*failing/,
    ...{ theme: 'light', width: 1280, height: 830 },
  },
  {
    file: 'docs/page-rollout.png',
    path: ROLLOUT,
    text: /Halted[^]*Evidence/,
    ...{ theme: 'light', width: 1280, height: 740 },
  },
  {
    file: 'docs/page-log.png',
    path: '/log',
    text: /halts/,
    ...{ theme: 'dark', width: 1280, height: 560 },
  },
];

const running = await launchStart(...START);
const chromium = await startChromium();
try {
  const { origin, address } = await running.serve();
  const { page, hasText } = await openVisit(chromium.browser);
  page.setDefaultTimeout(HALT_BOUND_MS);
  await page.goto(address);
  for (const { file, path: view, text, theme, width, height } of PICTURES) {
    await show(page, { theme, width });
    await page.setViewport({ width, height });
    await page.goto(`${origin}${view}`);
    await hasText(text);
    await hasText(/live, as of/);
    const target = path.join(repositoryRoot, file);
    await page.screenshot({ path: target });
    const { size } = statSync(target);
    if (size > BYTES_MAX) throw new Error(`${file} has ${String(size)} bytes`);
    process.stdout.write(`${file} is written, ${String(size)} bytes\n`);
  }
} finally {
  await chromium.close();
  await running.stop();
}
