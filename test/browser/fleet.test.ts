/**
 * The view of the fleet, of 100 clusters with 20,000 nodes: what it says, that it says so where nothing is known, that an address
 * gives the same again, and that the keyboard reaches a node. The server is the real one, its documents are of the test.
 */
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { REASONS } from '../../src/core/status/reasons.ts';
import { skipWithoutChromium, startChromium, type Chromium } from '../support/browser/chromium.ts';
import {
  STOPPED,
  clusterId,
  healthOf,
  nodeMapOf,
  type FleetTrouble,
} from '../support/browser/fleet-documents.ts';
import { judgeLooks } from '../support/browser/judge-looks.ts';
import { tabTo } from '../support/browser/keyboard.ts';
import { cellShapes, paintedPixels } from '../support/browser/painted.ts';
import { serveScripted, type ScriptedPage } from '../support/browser/scripted-page.ts';
import { openVisit, type Visit } from '../support/browser/visit.ts';

const SIZE = { clusters: 100, nodes: 200 };
const ALL = /20,000 nodes in 100 clusters/;

describe('the fleet on the page', { skip: skipWithoutChromium() }, () => {
  let chromium: Chromium;
  let ui: ScriptedPage;
  let visit: Visit;
  before(async () => {
    chromium = await startChromium();
  });
  after(() => chromium.close());
  beforeEach(async () => {
    ui = await serveScripted({});
    await tell({});
    visit = await openVisit(chromium.browser);
    await visit.page.goto(ui.address);
    await visit.hasText(ALL);
  });
  afterEach(async () => {
    await visit.page.close();
    await ui.close();
  });
  const tell = async (trouble: FleetTrouble): Promise<void> => {
    await ui.send('nodes', nodeMapOf(SIZE, trouble));
    await ui.send('status', healthOf(SIZE, trouble));
    await ui.send('look', { nextInMs: 2000 });
  };
  const painted = (kind: string): Promise<number> => paintedPixels(visit.page, kind);

  it('has no barrier in any look, breaks no policy, and asks this host alone', async () => {
    assert.deepEqual(await judgeLooks(visit, 'fleet'), []);
    const { complaints, violations, requests } = visit;
    assert.deepEqual([complaints, violations], [[], []]);
    const sent = requests.map(({ url }) => new URL(url));
    assert.deepEqual([...new Set(sent.map(({ origin }) => origin))], [ui.origin]);
    // A fragment is not sent; nothing else of an address may hold the token.
    for (const { pathname, search } of sent) assert.ok(!`${pathname}${search}`.includes(ui.token));
    assert.ok(!visit.page.url().includes(ui.token), 'the token stands in the bar of the browser');
  });

  it('paints a cluster of which nothing is heard as unknown', async () => {
    const before = { serving: await painted('serving'), unknown: await painted('unknown') };
    await tell({ silent: [clusterId(1)] });
    await visit.hasText(/nothing was heard of the watcher of prod-us-001/);
    await visit.hasText(/\b200\s+not known now/);
    const share = (await painted('serving')) / before.serving;
    assert.ok(share > 0.98 && share < 0.995, `one cluster less of a hundred: ${String(share)}`);
    assert.ok((await painted('unknown')) > before.unknown);
  });

  it('says that the stack is stopped, and counts nothing as well', async () => {
    await tell({
      outages: [STOPPED],
      silent: Array.from({ length: SIZE.clusters }, (_, place) => clusterId(place)),
    });
    await visit.hasText(/stopped since 2026-11-28 08:00 UTC by ann/);
    await visit.hasText(/Nothing acts/);
    await visit.hasText(/20,000\s+not known now/);
    assert.equal(await painted('serving'), 0);
  });

  it('says that the stream is lost, and after a while counts nothing as well', async () => {
    await ui.close();
    await visit.hasText(/connection .* is lost/);
    await visit.hasText(/20,000\s+not known now/);
    assert.equal(await painted('serving'), 0);
  });

  it('says that the server tells nothing new, while the connection stands', async () => {
    await visit.hasText(/The server tells nothing new/);
    await visit.hasText(/20,000\s+not known now/);
    assert.equal(await painted('serving'), 0);
  });

  it('finds nodes by a search, which stands in the address, and in another tab again', async () => {
    const { page } = visit;
    await page.type('input[type=search]', 'cluster:prod-eu-000 reason:failing');
    await visit.hasText(/3 nodes in 1 cluster/);
    const address = page.url();
    await page.reload();
    await visit.hasText(/3 nodes in 1 cluster/);
    const other = await openVisit(chromium.browser);
    // Of a colleague: with the token of the own server, as it was printed.
    await other.page.goto(`${address}#token=${ui.token}`);
    await other.hasText(/3 nodes in 1 cluster/);
    assert.equal(await other.text('main'), await visit.text('main'));
    await other.page.close();
  });

  it('tells each kind of node by its shape alone', async () => {
    const kinds = Map.groupBy(Object.entries(REASONS), ([, { kind }]) => kind);
    const reasons = [...kinds.values()].map(([first]) => first?.[0] ?? '');
    const nodes = reasons.length + 1;
    const [cluster] = nodeMapOf({ clusters: 1, nodes }).clusters;
    // The last is not known.
    const reason = [...reasons.keys(), -1];
    await ui.send('nodes', { ...nodeMapOf(SIZE), reasons, clusters: [{ ...cluster, reason }] });
    await visit.hasText(/6 nodes in 1 cluster/);
    const shapes = await cellShapes(visit.page, nodes);
    for (const [place, shape] of shapes.entries()) {
      for (const other of shapes.slice(place + 1)) {
        const differing = [...shape].filter((bit, pixel) => bit !== other[pixel]).length;
        assert.ok(differing > shape.length / 10, `${String(place)} looks like another one`);
      }
    }
  });

  it('is reached, searched and left for a node by keyboard alone, with every stop seen', async () => {
    const { page } = visit;
    const [first, ...others] = await tabTo(page, /^Search$/);
    assert.equal(first?.name, 'Skip to the content');
    await page.keyboard.type('cluster:prod-eu-000 reason:failing');
    await visit.hasText(/3 nodes in 1 cluster/);
    const toNodes = await tabTo(page, /^Nodes of prod-eu-000/);
    const unseen = [first, ...others, ...toNodes].filter(({ isSeen }) => !isSeen);
    assert.deepEqual(unseen, []);
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => location.pathname.startsWith('/nodes/'));
    const [, , cluster, node] = new URL(page.url()).pathname.split('/');
    assert.deepEqual([cluster, node], ['prod-eu-000', 'ip-10-0-0-1.internal']);
    await page.goBack();
    await visit.hasText(/3 nodes in 1 cluster/);
  });
});
