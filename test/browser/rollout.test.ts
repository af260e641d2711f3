/**
 * A rollout from its canary to its halt and back, driven through the page on what `npm start` runs, and read by the commands: the
 * page orders what the command line orders, and says what it says. On the way each view is looked at, in each look.
 */
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { skipWithoutChromium, startChromium, type Chromium } from '../support/browser/chromium.ts';
import { giveOrder, giveOrderByKeyboard } from '../support/browser/give-order.ts';
import { judgeLooks } from '../support/browser/judge-looks.ts';
import { paintedPixels } from '../support/browser/painted.ts';
import {
  launchStart,
  type RunningStart,
  type ServedPage,
} from '../support/browser/running-start.ts';
import { openVisit, type Visit } from '../support/browser/visit.ts';

const AGENT = { cluster: 'local-1', namespace: 'node-agents', name: 'log-collector' };
const SET = `${AGENT.namespace}/${AGENT.name}`;
const PLACE = `${AGENT.cluster}/${SET}`;
const ROLLOUT = `/rollouts/${PLACE}`;
const POLICY = 'canary: {nodes: 2}\napproval: after-canary\nsoak: 3s\nmaxUnavailable: 3\n';
const GOOD = 'registry.example/log-collector:2';
const BAD = 'registry.example/log-collector:3-simulate-oom-4s';

/** Of a DaemonSet that is not there yet. */
const MANIFEST = JSON.stringify({
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: { namespace: 'default', name: 'probe' },
  spec: {
    selector: { matchLabels: { app: 'probe' } },
    template: {
      metadata: { labels: { app: 'probe' } },
      spec: { containers: [{ name: 'probe', image: 'registry.example/probe:1' }] },
    },
  },
});

/** Of the DaemonSet's template. */
const imagePatch = (image: string): object => ({
  spec: { template: { spec: { containers: [{ name: 'collector', image }] } } },
});

describe('a rollout, driven through the page', { skip: skipWithoutChromium() }, () => {
  let chromium: Chromium;
  let running: RunningStart;
  let ui: ServedPage;
  let visit: Visit;
  before(async () => {
    running = await launchStart('--clusters', '1');
    ui = await running.serve();
    chromium = await startChromium();
    visit = await openVisit(chromium.browser);
    await visit.page.goto(ui.address);
  });
  after(async () => {
    await chromium.close();
    await running.stop();
  });

  const goTo = async (view: string): Promise<void> => {
    await visit.page.goto(`${ui.origin}${view}`);
  };
  /** What the command says of the rollout. */
  const phase = async (): Promise<string> => {
    const words = ['rollout', 'status', AGENT.cluster, SET, '--json'] as const;
    const { stdout } = await running.rollcall(...words);
    return (JSON.parse(stdout) as { readonly phase: string }).phase;
  };

  it('is served by npm start at the address that it prints', async () => {
    const { page, hasText } = await openVisit(chromium.browser);
    await page.goto(running.page.address);
    await hasText(/12 nodes in 1 cluster/);
    await page.close();
  });

  it('shows the fleet that was started, all of it well', async () => {
    await visit.hasText(/All is well/);
    await visit.hasText(/12 nodes in 1 cluster/);
  });

  it('waits after the canary, is paused and resumed, and is approved by keyboard alone', async () => {
    await running.patch(AGENT, { metadata: { annotations: { 'rollcall.dev/rollout': POLICY } } });
    await goTo(ROLLOUT);
    await visit.hasText(/Done/);
    await running.patch(AGENT, imagePatch(GOOD));
    await visit.hasText(/Approve/);
    assert.equal(await phase(), 'Waiting');
    assert.deepEqual(await judgeLooks(visit, 'rollout-waiting'), []);
    await giveOrder(visit, 'Pause');
    await visit.hasText(/Paused/);
    assert.equal(await phase(), 'Paused');
    await giveOrder(visit, 'Resume');
    await visit.hasText(/Approve/);
    assert.equal(await phase(), 'Waiting');
    await giveOrderByKeyboard(visit, 'Approve');
    await visit.hasText(/Done/);
    assert.equal(await phase(), 'Done');
  });

  it('freezes the whole stack with a reason and a confirmation, says so, and thaws it', async () => {
    await goTo('/');
    await giveOrder(visit, 'Freeze the whole stack', { why: 'a test', typed: 'the whole stack' });
    await visit.hasText(/nothing is created, deleted or changed in any cluster/);
    const frozen = await running.rollcall('status', '--json');
    assert.match(frozen.stdout, /"code": "frozen"/);
    assert.match(frozen.stdout, /a test/);
    await giveOrder(visit, 'Thaw the whole stack', { typed: 'the whole stack' });
    await visit.hasText(/All is well/);
    assert.doesNotMatch((await running.rollcall('status', '--json')).stdout, /"code": "frozen"/);
  });

  it('halts a bad release on its canary, with the evidence beside the halt', async () => {
    await running.patch(AGENT, imagePatch(BAD));
    await goTo(ROLLOUT);
    await visit.hasText(/Halted/);
    await visit.hasText(/OOMKilled/);
    assert.equal(await phase(), 'Halted');
  });

  it('plans a pasted manifest as the command does', async () => {
    const directory = await mkdtemp(path.join(tmpdir(), 'rollcall-plan-'));
    const file = path.join(directory, 'probe.yaml');
    await writeFile(file, MANIFEST);
    const { stdout } = await running.rollcall('plan', AGENT.cluster, '-f', file, '--json');
    await rm(directory, { recursive: true });
    const { nodes } = JSON.parse(stdout) as { readonly nodes: readonly { change: string }[] };
    const gained = nodes.filter(({ change }) => change === 'gained').length;
    assert.ok(gained > 0, stdout);
    await goTo(`/plan?cluster=${AGENT.cluster}`);
    await visit.page.type('textarea', MANIFEST);
    await visit.page.click('button[type=submit]');
    await visit.hasText(new RegExp(`It would change nodes: [^]*\\b${String(gained)} gained`));
    // It is not there yet, so no node has a pod that serves.
    assert.deepEqual(await visit.page.$$('td .mark-serving'), []);
    assert.deepEqual(await judgeLooks(visit, 'plan-shown'), []);
  });

  it('has no barrier in any view, in any look', async () => {
    const [node = ''] = await nodesWithTrouble(running);
    const views: Readonly<Record<string, readonly [path: string, text: RegExp]>> = {
      'fleet-halted': ['/', /Halted/],
      rollouts: ['/rollouts', new RegExp(SET)],
      'rollout-halted': [ROLLOUT, /OOMKilled/],
      daemonset: [`/daemonsets/${PLACE}`, new RegExp(SET)],
      node: [`/nodes/${AGENT.cluster}/${node}`, new RegExp(node)],
      log: ['/log', /log-collector/],
      plan: ['/plan', /manifest/i],
      coverage: ['/coverage', /Coverage/],
    };
    const barriers: string[] = [];
    for (const [name, [view, text]] of Object.entries(views)) {
      await goTo(view);
      await visit.hasText(text);
      barriers.push(...(await judgeLooks(visit, name)));
    }
    assert.deepEqual(barriers, []);
  });

  it('goes back by an undo, as the command says', async () => {
    await goTo(ROLLOUT);
    await giveOrder(visit, 'Undo');
    await visit.hasText(/Returned/);
    assert.equal(await phase(), 'Returned');
  });

  it('did all of it within its policy, on this host, with the token in no address', () => {
    const { violations, complaints, requests } = visit;
    assert.deepEqual([complaints, violations], [[], []]);
    const sent = requests.map(({ url }) => new URL(url));
    assert.deepEqual([...new Set(sent.map(({ origin }) => origin))], [ui.origin]);
    const told = sent.filter(({ pathname, search }) => `${pathname}${search}`.includes(ui.token));
    assert.deepEqual(told, []);
  });

  it('says that the stack does not answer once it was killed, and counts nothing as well', async () => {
    await goTo('/');
    await visit.hasText(/live, as of[^]*12 nodes in 1 cluster/);
    assert.ok((await paintedPixels(visit.page, 'serving')) > 0);
    await running.kill();
    await visit.hasText(/No node counts as well meanwhile/);
    await visit.hasText(/12\s+not known now/);
    assert.equal(await paintedPixels(visit.page, 'serving'), 0);
    // Who comes now is told nothing of before.
    await visit.page.reload();
    await visit.hasText(/AWS cannot be reached/);
    assert.equal(await paintedPixels(visit.page, 'serving'), 0);
  });
});

/** Nodes that `why` calls failing or held. */
async function nodesWithTrouble({ rollcall }: RunningStart): Promise<readonly string[]> {
  const { stdout } = await rollcall('why', SET, '--json');
  return [...stdout.matchAll(/"node": "([^"]+)"/g)].map(([, node = '']) => node);
}
