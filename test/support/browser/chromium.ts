/**
 * Starts Debian's Chromium for a test: without a window, with a profile of its own, and without a way to any host but
 * this one: a name resolves only where a test says so. It is closed by its own process's id, however the test ends.
 *
 * Its sandbox needs user namespaces, which root in a container does not have: as root it runs without.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { accessSync, constants } from 'node:fs';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { launch, type Browser } from 'puppeteer-core';
import { TOOLS, skipWithoutTools } from '../require-tool.ts';

/** The `skip` option of a suite that needs Chromium: false, or why it cannot run; throws where CI is set. */
export const skipWithoutChromium = (): string | false => skipWithoutTools([TOOLS.chromium]);

/** What a test may ask of the browser. */
export interface ChromiumOptions {
  /** Names that lead to 127.0.0.1, as in a rebound DNS; any other name leads nowhere. */
  readonly namesOfThisHost?: readonly string[];
  /** Further switches of its command line. */
  readonly switches?: readonly string[];
}

/** A running browser. */
export interface Chromium {
  readonly browser: Browser;
  /** Ends it, and removes its profile. */
  readonly close: () => Promise<void>;
}

const START_BOUND_MS = 60_000;
const CLOSE_BOUND_MS = 10_000;

/** Starts one; rejects where it does not answer within a minute. */
export async function startChromium(options: ChromiumOptions = {}): Promise<Chromium> {
  const profile = await mkdtemp(path.join(tmpdir(), 'rollcall-chromium-'));
  const remove = (): Promise<void> => rm(profile, { recursive: true, force: true, maxRetries: 5 });
  let browser: Browser;
  try {
    browser = await launch({
      executablePath: programOf('chromium'),
      userDataDir: profile,
      headless: true,
      timeout: START_BOUND_MS,
      args: switchesOf(options),
    });
  } catch (error) {
    await remove();
    throw new Error('Chromium does not start', { cause: error });
  }
  const close = async (): Promise<void> => {
    await endProcess(browser);
    await remove();
  };
  return { browser, close };
}

function switchesOf({ namesOfThisHost = [], switches = [] }: ChromiumOptions): string[] {
  const here = namesOfThisHost.map((name) => `MAP ${name} 127.0.0.1`);
  const rules = [...here, 'MAP * ~NOTFOUND', 'EXCLUDE 127.0.0.1', 'EXCLUDE localhost'];
  return [
    `--host-resolver-rules=${rules.join(',')}`,
    '--disable-dev-shm-usage',
    '--force-color-profile=srgb',
    '--hide-scrollbars',
    ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
    ...switches,
  ];
}

/** Asks it to close; one that does not is killed by its id. */
async function endProcess(browser: Browser): Promise<void> {
  const child = browser.process();
  if (child?.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  const bound = AbortSignal.timeout(CLOSE_BOUND_MS);
  bound.addEventListener('abort', () => child.kill('SIGKILL'), { once: true });
  // The connection breaks when the process ends, before or after the answer.
  await Promise.allSettled([browser.close(), ended]);
}

/** Where a program of PATH is: the browser's driver asks for a whole path. */
function programOf(name: string): string {
  const places = (process.env['PATH'] ?? '').split(path.delimiter);
  const found = places.map((place) => path.join(place, name)).find(isProgram);
  if (found === undefined) throw new Error(`${name} is not on PATH`);
  return found;
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
