/** Bugs by which an operator's order does nothing, does it twice, or is of another rollout than was seen (issue 17). */
import type { PlantedBug } from './planted-bug.ts';

const ORDERS_TEST = 'test/unit/core/rollout/orders.test.ts';
const NODES = 'src/core/stages/order-nodes.ts';
const GIVE = 'src/app/rollout/give-order.ts';
const HOME = 'src/app/orders/order-home.ts';
const GIVE_TEST = 'test/unit/app/rollout/give-order.test.ts';

const EXPLAIN = 'src/app/explain/explain.ts';
const RUNS_TEST = 'test/unit/app/rollout/orders-in-runs.test.ts';

/** The rows of orders to a rollout. */
export const ORDER_BUGS: Readonly<Record<string, PlantedBug>> = {
  'order-leaves-the-memo': {
    bug: 'the run that an order wakes finds nothing new, and a pause that was lifted lasts for hours (17.9)',
    file: GIVE,
    before: "(await view.writeState(stored.ref, rest)) === 'written'",
    after: "(await view.writeState(stored.ref, state)) === 'written'",
    killedBy: { file: GIVE_TEST, title: 'edits the record, drops the memo, and wakes the key' },
  },
  'order-is-not-told': {
    bug: 'an order waits for the next event of its DaemonSet (17.9)',
    file: GIVE,
    before: 'await hints.sendHints([hint], `manual/${random.uniqueId()}/`);',
    after: 'void hint;\n  void hints;\n  void random;\n  await Promise.resolve();',
    killedBy: { file: GIVE_TEST, title: 'edits the record, drops the memo, and wakes the key' },
  },
  'order-to-what-was': {
    bug: 'an order is given to what was there before somebody else wrote, and is lost for ever (17.9)',
    file: HOME,
    before: 'const edited = edit(found);',
    after: 'const edited = edit(first);',
    killedBy: { file: GIVE_TEST, title: 'applies the order to what it finds' },
  },
  'resume-keeps-the-evidence': {
    bug: 'a rollout that was resumed halts again at once, by what was overruled (17.9)',
    file: NODES,
    before: 'trial: overruleTrial(trial),',
    after: 'trial,',
    killedBy: { file: ORDERS_TEST, title: 'overrules a breach: soak and evidence begin anew' },
  },
  'approval-that-nobody-can-give': {
    bug: 'a pool that scales to zero shifts the numbers of steps: the last one waits for an approval that is refused',
    file: 'src/core/stages/steps.ts',
    before: 'left: left.length };',
    after: 'left: groups.length - Math.max(step.index, 0) };',
    killedBy: { file: RUNS_TEST, title: 'shift no numbers' },
  },
  'order-beside-its-fleet': {
    bug: 'while a fleet has the first nodes of a cluster, an approval there updates all others at once',
    file: GIVE,
    before: 'fleet?.isPartial === true && !isSure',
    after: 'fleet?.isPartial === true && !isSure && isSure',
    killedBy: {
      file: 'test/unit/cli/rollout/held-by-fleet.test.ts',
      title: 'is approved, resumed and undone by the fleet alone',
    },
  },
  'explain-without-policy': {
    bug: 'verdicts of a staged rollout are those of upstream’s rolling update (17.9)',
    file: EXPLAIN,
    before: '...defined({ staging })',
    after: '',
    killedBy: { file: RUNS_TEST, title: 'says that nodes outside of open steps wait' },
  },
  'pause-ends-with-its-revision': {
    bug: 'a pause that lost a race against the next template is forgotten (17.9)',
    file: 'src/core/stages/start-record.ts',
    before: 'return paused === undefined ? {} : { paused };',
    after: 'return paused === undefined ? {} : {};',
    killedBy: { file: RUNS_TEST, title: 'between the reads of a run and its write' },
  },
  'confirmation-of-another-shrink': {
    bug: 'a removal that nobody looked at is confirmed with the one before (17.7)',
    file: GIVE,
    before: 'state === undefined || heldToken(found) !== token',
    after: 'state === undefined',
    killedBy: { file: GIVE_TEST, title: 'confirms no other one that came meanwhile' },
  },
  'undo-in-a-moving-view': {
    bug: 'where pods flap, who asks for the way back in copilot is not told the command (issue 17)',
    file: 'src/app/rollout/undo-command.ts',
    before: "if (view.kind === 'incomplete' || read === READS_MAX) return undefined;",
    after: 'if (read <= READS_MAX) return undefined;',
    killedBy: {
      file: 'test/unit/app/rollout/undo-command.test.ts',
      title: 'reads a view again that is being written',
    },
  },
};
