/**
 * One tab, and what can be held against the page in it: every request, every line on its console, every exception, and
 * every violation of its content security policy, which the browser tells past the page.
 *
 * It waits for conditions, each with a bound, and never for a time.
 */
import type { Browser, ConsoleMessage, Page } from 'puppeteer-core';

/** What the page asked of the network. */
export interface SentRequest {
  readonly method: string;
  readonly url: string;
}

/** A tab under observation. */
export interface Visit {
  readonly page: Page;
  readonly requests: readonly SentRequest[];
  /** Errors and warnings of its console, and exceptions that nothing caught. */
  readonly complaints: readonly string[];
  /** Directives of the content security policy that something violated, with what it was. */
  readonly violations: readonly string[];
  /** Resolves once the page has a text; rejects with what it has instead after the bound. */
  readonly hasText: (text: RegExp) => Promise<void>;
  /** The text that a reader sees now, of all or of one element. */
  readonly text: (selector?: string) => Promise<string>;
}

/** What a tab looks like. */
export interface Look {
  readonly theme: 'light' | 'dark';
  readonly width: number;
}

/** Each look in which a view has to read well. */
export const LOOKS: readonly Look[] = (['light', 'dark'] as const).flatMap((theme) =>
  [1280, 380].map((width) => ({ theme, width })),
);

const DEFAULT_LOOK: Look = { theme: 'light', width: 1280 };
const HEIGHT_BY_WIDTH: Readonly<Record<number, number>> = { 380: 800 };
const DEFAULT_HEIGHT = 900;
/** A condition that takes longer will not be met. On a busy machine a look takes seconds, and the next one follows after ten times as long. */
const CONDITION_BOUND_MS = 120_000;
/** Characters of a page that an error shows. */
const SEEN_MAX = 2000;

/** Opens an empty tab; the caller navigates. Closing the browser closes it. */
export async function openVisit(browser: Browser, look: Look = DEFAULT_LOOK): Promise<Visit> {
  const page = await browser.newPage();
  page.setDefaultTimeout(CONDITION_BOUND_MS);
  const requests: SentRequest[] = [];
  const complaints: string[] = [];
  page.on('request', (sent) => requests.push({ method: sent.method(), url: sent.url() }));
  page.on('console', (message) => {
    if (isComplaint(message)) complaints.push(textOf(message));
  });
  page.on('pageerror', (error) => complaints.push(`exception: ${String(error)}`));
  const violations = await collectViolations(page);
  await show(page, look);
  const text = (selector = 'body'): Promise<string> =>
    page.$eval(selector, (element) => (element instanceof HTMLElement ? element.innerText : ''));
  const hasText = (pattern: RegExp): Promise<void> => waitForText(page, pattern);
  return { page, requests, complaints, violations, hasText, text };
}

/** Gives a tab another theme and width. */
export async function show(page: Page, { theme, width }: Look): Promise<void> {
  await page.setViewport({ width, height: HEIGHT_BY_WIDTH[width] ?? DEFAULT_HEIGHT });
  await page.emulateMediaFeatures([
    { name: 'prefers-color-scheme', value: theme },
    { name: 'prefers-reduced-motion', value: 'reduce' },
  ]);
}

function textOf(message: ConsoleMessage): string {
  const where = message.location().url ?? '';
  return `${message.type()}: ${message.text()} ${where}`.trimEnd();
}

/** An answer of the API that refuses is told by the page; that Chromium notes its status, too, is no fault of the page. */
function isComplaint(message: ConsoleMessage): boolean {
  if (/^Failed to load resource: the server responded/.test(message.text())) return false;
  return message.type() === 'error' || message.type() === 'warn';
}

async function collectViolations(page: Page): Promise<readonly string[]> {
  const violations: string[] = [];
  const session = await page.createCDPSession();
  session.on('Audits.issueAdded', ({ issue }) => {
    const found = issue.details.contentSecurityPolicyIssueDetails;
    if (found === undefined) return;
    violations.push(`${found.violatedDirective} ${found.blockedURL ?? 'inline'}`);
  });
  await session.send('Audits.enable');
  return violations;
}

async function waitForText(page: Page, { source, flags }: RegExp): Promise<void> {
  try {
    await page.waitForFunction(
      (wanted, how) => new RegExp(wanted, how).test(document.body.innerText),
      {},
      source,
      flags,
    );
  } catch (error) {
    const seen = await page.evaluate(() => document.body.innerText);
    const where = new URL(page.url()).pathname;
    throw new Error(`${where} never says /${source}/; it says:\n${seen.slice(0, SEEN_MAX)}`, {
      cause: error,
    });
  }
}
