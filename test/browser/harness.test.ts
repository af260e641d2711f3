/**
 * What the browser suite would hold against the page, planted in pages of a test: each has to be found, or a page that
 * does it would pass.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { findBarriers } from '../support/browser/axe.ts';
import { skipWithoutChromium, startChromium, type Chromium } from '../support/browser/chromium.ts';
import { serveDocuments, type ForeignServer } from '../support/browser/foreign-page.ts';
import { LOOKS, openVisit, show, type Visit } from '../support/browser/visit.ts';

const documentOf = (body: string): string =>
  `<!doctype html><html lang="en"><title>planted</title><link rel="icon" href="data:,"><main>${body}</main></html>`;
const STRICT = { 'content-security-policy': "default-src 'none'; img-src data:" };
const REBOUND = 'rebound.example';

describe('the browser suite', { skip: skipWithoutChromium() }, () => {
  let chromium: Chromium;
  let server: ForeignServer;
  before(async () => {
    server = await serveDocuments({
      '/good': { html: documentOf('<h1>Whole</h1><button>Approve</button>') },
      '/barrier': { html: documentOf('<h1>Broken</h1><img src="data:,"><button></button>') },
      '/inline': { html: documentOf('<h1>Inline</h1><script>1</script>'), headers: STRICT },
      '/leaves': { html: documentOf('<h1>Leaves</h1><img alt="" src="http://outside.example/a">') },
      '/throws': { html: documentOf('<h1>Throws</h1><script>throw new Error("planted")</script>') },
      '/theme': {
        html: documentOf(
          '<h1>Theme</h1><style>body::after{content:"light"}@media(prefers-color-scheme:dark){body::after{content:"dark"}}</style>',
        ),
      },
    });
    chromium = await startChromium({ namesOfThisHost: [REBOUND] });
  });
  after(async () => {
    await chromium.close();
    await server.close();
  });
  const visit = async (path: string, origin = server.origin): Promise<Visit> => {
    const opened = await openVisit(chromium.browser);
    await opened.page.goto(`${origin}${path}`, { waitUntil: 'networkidle0' });
    return opened;
  };

  it('has nothing against a page that is whole', async () => {
    const { page, requests, complaints, violations } = await visit('/good');
    assert.deepEqual(await findBarriers(page), []);
    assert.deepEqual([complaints, violations], [[], []]);
    assert.deepEqual(
      requests.filter(({ url }) => !url.startsWith('data:')),
      [{ method: 'GET', url: `${server.origin}/good` }],
    );
  });

  it('finds by axe what keeps people out', async () => {
    const { page } = await visit('/barrier');
    const barriers = await findBarriers(page);
    assert.match(barriers.join('\n'), /^button-name: .*\nimage-alt: /);
  });

  it('finds a violation of the content security policy', async () => {
    const { violations } = await visit('/inline');
    assert.deepEqual(violations, ['script-src-elem inline']);
  });

  it('finds a request that leaves this host, which leads nowhere', async () => {
    const { requests, complaints } = await visit('/leaves');
    assert.ok(requests.some(({ url }) => url === 'http://outside.example/a'));
    assert.match(complaints.join('\n'), /ERR_NAME_NOT_RESOLVED/);
  });

  it('finds an exception that nothing caught', async () => {
    const { complaints } = await visit('/throws');
    assert.match(complaints.join('\n'), /^exception: Error: planted/);
  });

  it('leads a rebound name to this host', async () => {
    const { hasText } = await visit('/good', `http://${REBOUND}:${String(server.port)}`);
    await hasText(/Whole/);
  });

  it('shows a page in each theme and width', async () => {
    const { page } = await visit('/theme');
    const seen: unknown[] = [];
    for (const look of LOOKS) {
      await show(page, look);
      seen.push(
        await page.evaluate(() => ({
          theme: getComputedStyle(document.body, '::after').content.replaceAll('"', ''),
          width: window.innerWidth,
        })),
      );
    }
    assert.deepEqual(seen, LOOKS);
  });
});
