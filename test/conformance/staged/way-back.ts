/**
 * The way back from a release that passed all its groups and is found bad afterwards: three ways that people take, alike in both modes.
 *
 * The policy asks for an hour's soak, a person before each step, and a window that is closed: none of it holds nodes with the bad release.
 */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { deleteNodes } from '../control-plane/nodes.ts';
import { closedWindow } from '../scenarios/closed-window.ts';
import { joiningNode, NAME, NODES_COUNT, policyOf } from './staged-stage.ts';
import type { StagedMode, StagedStage, StoryLength } from './staged-stage.ts';

/** Ten of fifty nodes at once: five turns of a pod's life here, and a busy machine's share. */
const BACK_WITHIN_MS = 120_000;

const CLOSED = `window: ${JSON.stringify(closedWindow())}`;

/**
 * Declares the steps. Every node runs `b` before and after each of them. A commit that is reverted and kubectl's undo both give the
 * template back; with each change the undo is played in takeover, and in copilot the revert, after the order that is refused there.
 */
export function tellWayBack(mode: StagedMode, stage: () => StagedStage, length: StoryLength): void {
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
