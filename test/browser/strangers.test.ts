/**
 * What other pages of the same browser can do to the page: read nothing, order nothing, and frame nothing, whatever they
 * know. The server is the real one; a command that it ran for them would be in its list.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Page } from 'puppeteer-core';
import { skipWithoutChromium, startChromium, type Chromium } from '../support/browser/chromium.ts';
import { serveDocuments, type ForeignServer } from '../support/browser/foreign-page.ts';
import { serveScripted, type ScriptedPage } from '../support/browser/scripted-page.ts';
import { openVisit } from '../support/browser/visit.ts';

const FOREIGN = 'foreign.example';
const REBOUND = 'rebound.example';
const POLLING_MS = 50;

/** Ways in which a script asks; each says what it could read, or that it could not. */
async function tryToRead(page: Page, { origin, token }: ScriptedPage): Promise<readonly string[]> {
  return page.evaluate(
    async (target, stolen) => {
      const order = `${target}/api/v1/freeze`;
      const look = `${target}/api/v1/status`;
      const bearer = { authorization: `Bearer ${stolen}` };
      const json = { ...bearer, 'content-type': 'application/json' };
      const body = JSON.stringify({ yes: true });
      const tries: readonly (readonly [url: string, init: RequestInit])[] = [
        [look, {}],
        [look, { credentials: 'include' }],
        [look, { headers: bearer }],
        [look, { mode: 'no-cors' }],
        [`${target}/page.js`, { mode: 'no-cors' }],
        [`${target}/api/v1/events`, { headers: bearer }],
        [order, { method: 'POST', body, headers: json }],
        [order, { method: 'POST', body, mode: 'no-cors' }],
        [`${order}?token=${stolen}`, { method: 'POST', body, mode: 'no-cors' }],
      ];
      const outcomes = tries.map(async ([url, init]) => {
        const answer = await fetch(url, init).catch(() => undefined);
        const text = await answer?.text();
        return text === undefined || text === '' ? [] : [`${url} answered ${text}`];
      });
      return (await Promise.all(outcomes)).flat();
    },
    origin,
    token,
  );
}

describe('a page of another origin', { skip: skipWithoutChromium() }, () => {
  let chromium: Chromium;
  let ui: ScriptedPage;
  let foreign: ForeignServer;
  before(async () => {
    ui = await serveScripted({});
    const form = `<form id="f" method="post" enctype="text/plain" action="${ui.origin}/api/v1/freeze"><input name='{"yes":true,"a' value='":1}'></form>`;
    foreign = await serveDocuments({
      '/': { html: '<!doctype html><title>foreign</title><p>foreign</p>' },
      '/form': { html: `<!doctype html><title>foreign</title>${form}` },
      '/frame': {
        html: `<!doctype html><title>foreign</title><iframe src="${ui.address}"></iframe>`,
      },
      '/script': {
        html: `<!doctype html><title>foreign</title><script src="${ui.origin}/page.js"></script>`,
      },
    });
    chromium = await startChromium({ namesOfThisHost: [FOREIGN, REBOUND] });
  });
  after(async () => {
    await chromium.close();
    await foreign.close();
    await ui.close();
  });

  /** On another port of this host, and on a site of another name that leads to it. */
  const origins = (): readonly string[] => [
    foreign.origin,
    `http://${FOREIGN}:${String(foreign.port)}`,
  ];
  const open = async (url: string): Promise<Page> => {
    const { page } = await openVisit(chromium.browser);
    await page.goto(url);
    return page;
  };

  it('reads nothing and orders nothing by script, not even with a stolen token', async () => {
    for (const origin of origins()) {
      const page = await open(`${origin}/`);
      assert.deepEqual(await tryToRead(page, ui), []);
      await page.close();
    }
    assert.deepEqual(ui.orders, []);
  });

  it('orders nothing by a form', async () => {
    for (const origin of origins()) {
      const page = await open(`${origin}/form`);
      const answered = page.waitForNavigation();
      await page.$eval('#f', (form) => {
        (form as HTMLFormElement).submit();
      });
      assert.equal((await answered)?.status(), 403, origin);
      await page.close();
    }
    assert.deepEqual(ui.orders, []);
  });

  it('frames nothing, and runs none of its scripts', async () => {
    for (const origin of origins()) {
      const page = await open(`${origin}/frame`);
      const [, frame] = page.frames();
      assert.match(frame?.url() ?? '', /^chrome-error:/);
      await page.close();
      const { page: other, complaints } = await openVisit(chromium.browser);
      await other.goto(`${origin}/script`);
      assert.match(complaints.join(), /ERR_BLOCKED_BY_RESPONSE/);
      await other.close();
    }
  });

  it('holds no handle on a page that it opens', async () => {
    const page = await open(`${foreign.origin}/`);
    const popup = new Promise<Page | null>((resolve) => page.once('popup', resolve));
    const handle = await page.evaluateHandle(
      (address) => ({ of: window.open(address) }),
      ui.address,
    );
    // A tab that is covered draws no frames.
    const isCut = (opened: { readonly of: Window | null }): boolean => opened.of?.closed !== false;
    await page.waitForFunction(isCut, { polling: POLLING_MS }, handle);
    const hasOpener = await (await popup)?.evaluate(() => window.opener !== null);
    assert.equal(hasOpener, false);
  });

  it('finds no one under a name that was rebound to this host, with the token in hand', async () => {
    const { page } = await openVisit(chromium.browser);
    // The page of a rebound name is the attacker's: it has no policy of ours.
    await page.setBypassCSP(true);
    const origin = `http://${REBOUND}:${new URL(ui.origin).port}`;
    const answer = await page.goto(`${origin}/`);
    assert.equal(answer?.status(), 421);
    const statuses = await page.evaluate(async (token) => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      const answers = [
        fetch('/api/v1/status', { headers }),
        fetch('/api/v1/events', { headers }),
        fetch('/page.js'),
        fetch('/api/v1/freeze', { headers, method: 'POST', body: '{"yes":true}' }),
      ];
      return (await Promise.all(answers)).map(({ status }) => status);
    }, ui.token);
    assert.deepEqual(statuses, [421, 421, 421, 421]);
    assert.deepEqual(ui.orders, []);
  });
});
