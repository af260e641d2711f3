/**
 * The acceptance of staged rollouts (issue 17), played alike beside the built-in loop and in its place: one control plane of 50
 * nodes, one story, each step on what the one before left.
 *
 * A good release goes canary by canary and pool by pool; each of some bad ones is halted on its canary, with the cause in the Event, the
 * status command and the log; then the way back, `onHalt: rollback`, and what people do in the middle.
 */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import {
  CANARIES,
  NAME,
  NODES_COUNT,
  POOLS,
  policyOf,
  WATCH,
  joiningNode,
} from './staged-stage.ts';
import type { Release, StagedMode, StagedStage, StoryLength } from './staged-stage.ts';
import { deleteNodes } from '../control-plane/nodes.ts';
import { closedWindow } from '../scenarios/closed-window.ts';

/** Ten of fifty nodes at once: five turns of a pod's life here, and a busy machine's share. */
const BACK_WITHIN_MS = 120_000;

const CLOSED = `window: ${JSON.stringify(closedWindow())}`;

/**
 * Declares the steps. Every node runs `b` before and after each of them. A commit that is reverted and kubectl's undo both give the
 * template back; with each change the undo is played in takeover, and in copilot the revert, after the order that is refused there.
 */
function tellWayBack(mode: StagedMode, stage: () => StagedStage, length: StoryLength): void {
  if (length === 'whole') {
    it('goes back at once from a release found bad afterwards: its commit is reverted', () =>
      goBackBy(stage(), 'reverted', (on) => applyFormer(on)));
  }
  if (length === 'whole' || mode === 'takeover') {
    it('goes back at once from a release found bad afterwards: kubectl rollout undo', () =>
      goBackBy(stage(), 'undone', (on) => on.kubectl.succeed(`rollout undo daemonset/${NAME}`)));
  }
  it('goes back at once from a release found bad afterwards: rollcall rollout undo, then the revert', () =>
    goBackBy(stage(), 'ordered', (on) => orderAndApply(mode, on)));
}

async function goBackBy(
  stage: StagedStage,
  version: string,
  goBack: (stage: StagedStage) => Promise<unknown>,
): Promise<void> {
  await stage.setPolicy(policyOf('2s'));
  await stage.release({ version });
  const done = await stage.follow();
  assert.equal(done.code, 0, `${done.stdout}\n${done.stderr}`);
  await stage.untilVersion(version);
  await stage.setPolicy(policyOf('1h', 'approval: each-step', CLOSED));
  const fromEvent = stage.bare.observer.events.length;
  const startedAtMs = Date.now();
  await goBack(stage);
  const joined = `joined-${version}`;
  await stage.bare.admin.post('/api/v1/nodes', joiningNode(joined));
  await stage.untilVersion('b');
  const tookMs = Date.now() - startedAtMs;
  assert.ok(tookMs <= BACK_WITHIN_MS, `all nodes are back after ${String(tookMs)} ms`);
  const { creations, availableNodesMin } = stage.report(fromEvent);
  const onJoined = creations.filter(({ node }) => node === joined);
  assert.equal(onJoined.length, 1, 'a node that joins in the middle gets the good release at once');
  assert.ok(availableNodesMin >= NODES_COUNT - 10, String(availableNodesMin));
  await deleteNodes(stage.bare.admin, [joined]);
  await stage.until('it gone', () => stage.nodeNames().length === NODES_COUNT);
}

/** As Git has it again. */
async function applyFormer(stage: StagedStage): Promise<void> {
  await stage.release({ version: 'b' });
}

async function orderAndApply(mode: StagedMode, stage: StagedStage): Promise<void> {
  const { code, stdout, stderr } = await stage.rollout('undo');
  // In copilot the template alone leads back, and the command that edits it is printed.
  assert.equal(code, mode === 'takeover' ? 0 : 3, `${stdout}\n${stderr}`);
  if (mode === 'takeover') {
    await stage.until('some nodes back', () => stage.nodesAt('b').length > 0);
  }
  await applyFormer(stage);
}

const UNAVAILABLE_MAX = 10;

interface BadRelease extends Release {
  readonly what: string;
  readonly cause: Readonly<Record<StagedMode, RegExp>>;
  /** Nodes that it may touch. */
  readonly nodesMax: number;
}

const both = (cause: RegExp): BadRelease['cause'] => ({ copilot: cause, takeover: cause });

const BAD_RELEASES: readonly BadRelease[] = [
  {
    what: 'an image that cannot be pulled',
    ...{ version: 'pull', image: 'cannot-pull', nodesMax: CANARIES },
    cause: both(/StartFailure/),
  },
  {
    what: 'a crash loop',
    ...{ version: 'crash', image: 'crashes', nodesMax: CANARIES },
    cause: both(/Restarts/),
  },
  {
    what: 'a leak that is killed for memory during the soak',
    ...{ version: 'leak', image: 'leaks', nodesMax: CANARIES },
    cause: both(/OOMKilled/),
  },
  {
    what: 'readiness that flaps',
    ...{ version: 'flap', image: 'flaps', nodesMax: CANARIES },
    annotations: { 'rollcall.test/ready-delay-ms': '1500' },
    cause: both(/Flapping/),
  },
  {
    what: 'pods that PodSecurity refuses',
    ...{ version: 'refused', isPrivileged: true, nodesMax: 1 },
    // Who makes the pods knows at once why there is none.
    cause: { copilot: /NotRecreated|CreateRefused/, takeover: /CreateRefused/ },
  },
];

/**
 * Played with each change. What is evidence is decided alike in both modes, so each failure of pods is in one of them; who finds out
 * that there is no pod differs. All in both: whole-stories.nightly.test.ts.
 */
const WITH_EACH_CHANGE: Readonly<Record<StagedMode, ReadonlySet<string>>> = {
  copilot: new Set(['crash', 'refused']),
  takeover: new Set(['pull', 'leak', 'flap', 'refused']),
};

/** Declares the steps. `stage`: valid from the first of them on. */
export function tellStory(mode: StagedMode, stage: () => StagedStage, length: StoryLength): void {
  it('rolls 50 nodes by annotation: canary of three, soak, pool by pool, within the budget, each pod once', () =>
    rollInOrder(stage()));
  // Before any bad revision is the second newest, which is where kubectl's undo leads.
  it('goes on while a node is drained and cordoned, and an undo half-way restarts no pod that was never replaced', () =>
    meetPeople(stage()));
  tellWayBack(mode, stage, length);
  for (const bad of BAD_RELEASES) {
    if (length !== 'whole' && !WITH_EACH_CHANGE[mode].has(bad.version)) continue;
    it(`halts ${bad.what} on at most ${String(bad.nodesMax)} node(s), says why in three places, and goes back`, async () => {
      // The next step begins where all is well, whatever this one came to.
      await meetBadRelease(stage(), bad, bad.cause[mode]).finally(() => goBack(stage()));
    });
  }
  it('with onHalt: rollback returns to the good revision, and holds the same bad one when it comes again', () =>
    rollBack(stage()));
}

async function rollInOrder(stage: StagedStage): Promise<void> {
  await stage.setPolicy(policyOf('3s'));
  const before = stage.podUids();
  const fromEvent = await stage.release({ version: 'b' });
  const watched = await stage.follow();
  assert.equal(watched.code, 0, `${watched.stdout}\n${watched.stderr}`);
  await stage.untilVersion('b');
  const { deletions, creations, availableNodesMin } = stage.report(fromEvent);
  assert.deepEqual(deletions.map(({ podUid }) => podUid).sort(), [...before.values()].sort());
  assert.ok(availableNodesMin >= NODES_COUNT - UNAVAILABLE_MAX, String(availableNodesMin));
  const { staged, phase } = await stage.status();
  assert.equal(phase, 'Done');
  const order = deletions.map(({ node }) => node);
  const canary = order.slice(0, CANARIES);
  assert.deepEqual(canary.toSorted(), staged?.canary.toSorted());
  const [first, second] = deletions;
  const successor = creations.find(({ node }) => node === first?.node);
  assert.ok((second?.atMs ?? 0) > (successor?.atMs ?? Infinity), 'the first pod goes alone');
  const pools = order.slice(CANARIES).map((node) => poolOf(stage, node));
  const names = Object.keys(POOLS);
  assert.deepEqual(
    pools,
    pools.toSorted((left, right) => names.indexOf(left) - names.indexOf(right)),
    'pool by pool',
  );
  await stage.untilTold('RolloutComplete');
  const opened = await stage.events('RolloutStep');
  for (const pool of names) {
    assert.ok(
      opened.some((message) => message.includes(pool)),
      opened.join('\n'),
    );
  }
}

function poolOf(stage: StagedStage, node: string): string {
  return stage.bare.observer.nodes.get(node)?.labels['pool'] ?? '';
}

async function meetBadRelease(stage: StagedStage, bad: BadRelease, cause: RegExp): Promise<void> {
  // Longer than all that goes wrong takes to show.
  await stage.setPolicy(policyOf('45s'));
  const before = stage.podUids();
  const fromEvent = await stage.release(bad);
  const watched = await stage.follow();
  assert.equal(watched.code, 5, `${watched.stdout}\n${watched.stderr}`);
  assert.match(watched.stdout, cause);
  await stage.untilStill();
  const touched = new Set(stage.report(fromEvent).deletions.map(({ node }) => node));
  assert.ok(touched.size > 0 && touched.size <= bad.nodesMax, [...touched].join());
  const now = stage.podUids();
  for (const [node, uid] of before) {
    if (!touched.has(node)) assert.equal(now.get(node), uid, `${node} was touched`);
  }
  const { staged, phase } = await stage.status();
  assert.equal(phase, 'Halted');
  assert.ok(staged?.breach !== undefined);
  assert.match(staged.breach.cause, cause);
  for (const node of touched) assert.ok(staged.canary.includes(node), `${node} is no canary`);
  assert.ok(staged.breach.nodes.length > 0, 'nodes are named');
  for (const node of staged.breach.nodes) assert.ok(touched.has(node), node);
  await expectTold(stage, staged.revision, cause);
}

async function expectTold(stage: StagedStage, revision: string, cause: RegExp): Promise<void> {
  const isAbout = (message: string): boolean => cause.test(message) && message.includes(revision);
  const events = await stage.untilTold('RolloutHalted', isAbout);
  const told = events.filter(isAbout);
  assert.equal(told.length, 1, events.join('\n'));
  const lines = stage.bare.activity.lines.filter(
    ({ level, fields }) => level === 'warn' && fields?.['revision'] === revision,
  );
  assert.ok(
    lines.some(({ fields }) => cause.test(String(fields?.['code']))),
    stage.bare.activity.tail(20),
  );
}

/** As a person goes back: by the command, or by the one that it prints. */
export async function goBack(stage: StagedStage): Promise<void> {
  if (stage.mode === 'takeover') {
    const undone = await stage.rollout('undo', ...WATCH);
    assert.equal(undone.code, 0, `${undone.stdout}\n${undone.stderr}`);
  } else {
    const refused = await stage.rollout('undo');
    assert.equal(refused.code, 3, refused.stderr);
    const [, command = ''] = /kubectl (.* --to-revision=\d+)/.exec(refused.stderr) ?? [];
    assert.notEqual(command, '', refused.stderr);
    await stage.kubectl.succeed(command);
  }
  await stage.untilVersion('b');
}

async function rollBack(stage: StagedStage): Promise<void> {
  await stage.setPolicy(policyOf('45s', 'onHalt: rollback'));
  if (stage.mode === 'copilot') await stage.grantRollback();
  const bad: Release = { version: 'worse', image: 'crashes' };
  const fromEvent = await stage.release(bad);
  await stage.until('a node with it', () => stage.nodesAt('worse').length > 0);
  await stage.untilVersion('b');
  const touched = new Set(stage.report(fromEvent).deletions.map(({ node }) => node));
  assert.ok(touched.size <= CANARIES, [...touched].join());
  // A GitOps tool applies what it has.
  const again = await stage.release(bad);
  const watched = await stage.follow();
  assert.equal(watched.code, 5, watched.stdout);
  await stage.untilStill();
  assert.deepEqual(stage.report(again).deletions, [], 'held at once');
  if (stage.mode === 'copilot')
    assert.equal((await stage.status()).staged?.breach?.cause, 'KnownBad');
}

async function meetPeople(stage: StagedStage): Promise<void> {
  const { kubectl } = stage;
  // Half-way, for as long as it takes.
  await stage.setPolicy(policyOf('3s', 'partition: 60%'));
  const former = stage.podUids();
  await stage.release({ version: 'c' });
  await stage.until('the canary', () => stage.nodesAt('c').length >= CANARIES);
  const drained = stage.nodeNames().at(-1) ?? '';
  await kubectl.succeed(`cordon ${drained}`);
  await kubectl.succeed(`drain ${drained} --ignore-daemonsets --timeout=60s`);
  await stage.until('two fifths of the nodes', () => stage.nodesAt('c').length >= 20);
  await stage.untilStill();
  assert.equal(stage.nodesAt('c').length, 20);
  await kubectl.succeed(`uncordon ${drained}`);
  const touched = new Set(stage.nodesAt('c'));
  await kubectl.succeed(`rollout undo daemonset/${NAME}`);
  // Nothing is in doubt before the partition goes: what runs the template's revision already stays.
  await stage.untilStill();
  await stage.setPolicy(policyOf('3s'));
  await stage.untilVersion('b');
  const watched = await stage.follow();
  assert.equal(watched.code, 0, watched.stdout);
  const now = stage.podUids();
  for (const [node, uid] of former) {
    if (!touched.has(node)) assert.equal(now.get(node), uid, `${node} was never replaced`);
  }
  assert.equal(now.size, NODES_COUNT, 'the drained node has a pod as well');
}
