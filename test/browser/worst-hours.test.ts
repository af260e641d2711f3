/**
 * The page in the worst hours, over what real runs left in the stores and the real commands: each view says what the commands say,
 * and shows nothing as well of which nothing is known. Orders reach the stores with what their commands ask for.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { loadPageFiles, type PageFiles } from '../../src/cli/ui/page-files.ts';
import { Scene, type State } from '../support/answer-scene.ts';
import { skipWithoutChromium, startChromium, type Chromium } from '../support/browser/chromium.ts';
import { giveOrder } from '../support/browser/give-order.ts';
import { judgeLooks } from '../support/browser/judge-looks.ts';
import { paintedPixels } from '../support/browser/painted.ts';
import { openVisit, type Visit } from '../support/browser/visit.ts';
import { serveWorld } from '../support/ui-client.ts';

const SET = 'a/system/agents';
const NODE = '/nodes/a/node-0001';

/** For each hour what the fleet says, how many of three nodes serve, and what the view of a node says. */
const HOURS = [
  ['stopped', /Nothing acts/, 0, /held/],
  ['watcher gone', /nothing was heard of the watcher of a since/, 0, /as of before: serving/],
  ['all functions behind', /Nothing acts/, 0, /as of before|held/],
  ['first release', /lacks 1 of 3 pods in a/, 2, /serving/],
  ['nothing eligible', /1 DaemonSet without an eligible node/, 0, /no pod needed/],
  ['halted', /Halted[^]*OOMKilled/, 3, /serving/],
] as const;

describe('the page in the worst hours', { skip: skipWithoutChromium() }, () => {
  let chromium: Chromium;
  let files: PageFiles;
  before(async () => {
    files = await loadPageFiles();
    chromium = await startChromium();
  });
  after(() => chromium.close());

  /** Opens a view of a state, does something with it, and closes all of it; `expected`: complaints of what the test takes away. */
  const within = async (
    state: State,
    work: (visit: Visit, scene: Scene, goTo: (path: string) => Promise<unknown>) => Promise<void>,
    expected = /$^/,
  ): Promise<void> => {
    const scene = await Scene.make(state);
    const { ui } = await serveWorld(scene.commands, files);
    const visit = await openVisit(chromium.browser);
    try {
      await visit.page.goto(ui.address);
      await visit.hasText(/live, as of/);
      await work(visit, scene, (path) => visit.page.goto(new URL(path, ui.address).href));
      const complaints = visit.complaints.filter((text) => !expected.test(text));
      assert.deepEqual([complaints, visit.violations], [[], []]);
    } finally {
      await visit.page.close();
      await ui.close();
    }
  };

  for (const [state, fleet, serving, node] of HOURS) {
    it(`shows as serving in the hour "${state}" what serves, and no other node`, async () => {
      await within(state, async (visit, _scene, goTo) => {
        await visit.hasText(fleet);
        await visit.hasText(new RegExp(`\\b${String(serving)}\\s+serving`));
        assert.equal((await paintedPixels(visit.page, 'serving')) > 0, serving > 0);
        await goTo(NODE);
        await visit.hasText(node);
        await visit.hasText(/live, as of/);
        const marks = await visit.page.$$('.daemon .mark-serving');
        assert.equal(marks.length > 0, serving > 0);
      });
    });
  }

  it('says once that the stack is stopped, whatever the view asks', async () => {
    await within('stopped', async (visit, _scene, goTo) => {
      for (const view of [`/rollouts/${SET}`, `/daemonsets/${SET}`, NODE, '/log']) {
        await goTo(view);
        await visit.hasText(/live, as of/);
        await visit.page.waitForFunction(() => !document.body.innerText.includes('Asking …'));
        assert.equal((await visit.page.$$('.outages > li')).length, 1, view);
      }
    });
  });

  it('asks for a reason and the name before a halt is overruled, and orders no more than that', async () => {
    await within('halted', async (visit, scene, goTo) => {
      await goTo(`/rollouts/${SET}`);
      await giveOrder(visit, 'Overrule the halt', { why: 'looked at it', typed: 'system/agents' });
      const state = await scene.stores.view.readState(await scene.ref());
      assert.equal(state?.rollout?.orders.resumed?.why, 'looked at it');
    });
  });

  it('shows the rollout of a fleet in each look, and approves its gate', async () => {
    await within('held by a fleet', async (visit, scene, goTo) => {
      await goTo('/fleets/system/agents');
      await visit.hasText(/waits for approval after stage first/);
      assert.deepEqual(await judgeLooks(visit, 'fleet-rollout'), []);
      await giveOrder(visit, 'Approve');
      const key = { namespace: 'system', name: 'agents', uid: 'uid-1' };
      const record = await scene.stores.rollouts.readRecord(key);
      assert.equal(record?.orders.approved?.stepIndex, 1);
    });
  });

  it('asks coverage again where it was not answered, as it says', async () => {
    await within(
      'well',
      async (visit, _scene, goTo) => {
        await visit.page.setRequestInterception(true);
        let isLost = true;
        visit.page.on('request', (sent) => {
          const isFirst = isLost && sent.url().includes('/api/v1/coverage');
          if (isFirst) isLost = false;
          void (isFirst ? sent.abort() : sent.continue());
        });
        await goTo('/coverage');
        await visit.hasText(/does not answer[^]*tries again by itself/);
        await visit.hasText(/Nothing is counted of this time|By DaemonSet/);
      },
      /ERR_FAILED/,
    );
  });

  it('promises no second try of an order that was not answered', async () => {
    await within(
      'halted',
      async (visit, _scene, goTo) => {
        await goTo(`/rollouts/${SET}`);
        await visit.page.setRequestInterception(true);
        visit.page.on('request', (sent) => {
          void (sent.method() === 'POST' ? sent.abort() : sent.continue());
        });
        await visit.page.locator('main ::-p-aria([name="Freeze a"][role="button"])').click();
        await visit.page.locator('dialog[open] input').fill('looked at it');
        await visit.page.locator('dialog[open] button[type=submit]').click();
        await visit.hasText(/does not answer[^]*may have acted all the same/);
        assert.doesNotMatch(await visit.text('dialog[open]'), /tries again by itself/);
      },
      /ERR_FAILED/,
    );
  });

  it('says whether no entry of the log has the words, or none is there', async () => {
    await within('well', async (visit, _scene, goTo) => {
      await goTo('/log?since=30d&q=no-such-word');
      await visit.hasText(/No entry of this time has these words/);
      await goTo('/log?since=30d&subject=other/set');
      await visit.hasText(/There is no entry of this time/);
    });
  });
});
