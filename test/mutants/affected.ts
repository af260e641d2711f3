/**
 * Bugs that leave a key asleep, or wake what nobody needs: which keys a node's change concerns (issue 16, ADR 0046).
 */
import type { PlantedBug } from './planted-bug.ts';

const FINDER = 'src/watcher/outbox/affected.ts';
const PROPERTY = 'test/property/watcher/affected.test.ts';
const LAST = 'has the placement that it was woken with last';
const EACH = 'each is compared, with what a snapshot said of it';
const HINTS = 'src/app/ingest/hints.ts';
const HINTS_TEST = 'test/unit/app/ingest/hints.test.ts';

/** The rows of affected keys. */
export const AFFECTED_BUGS: Readonly<Record<string, PlantedBug>> = {
  'affected-forgets-pods-of-a-node': {
    bug: 'a node that came back under its name concerns nobody, though pods stand there that must go (issue 16)',
    file: FINDER,
    before: 'return bare.size > 0 && this.#hasPodOn(daemonSet, bare);',
    after: 'return false;',
    killedBy: { file: PROPERTY, title: 'wakes who has a pod there that must go' },
  },
  'affected-ready-node-ignored': {
    bug: 'a rollout in stages that waits for a node to be Ready sleeps on (S16)',
    file: FINDER,
    before: 'before.isReady !== after.isReady || ',
    after: '',
    killedBy: { file: PROPERTY, title: 'wakes who is rolled in stages' },
  },
  'affected-ready-node-wakes-all': {
    bug: 'a node that is not Ready for a moment wakes every DaemonSet',
    file: FINDER,
    before: 'before !== undefined && isStaged(daemonSet) &&',
    after: 'before !== undefined &&',
    killedBy: { file: PROPERTY, title: 'wakes who is rolled in stages' },
  },
  'affected-first-node-only': {
    bug: 'of several nodes in a message only the first is compared (issue 16)',
    file: FINDER,
    before: 'for (const { before, after } of changes) {',
    after: 'for (const { before, after } of changes.slice(0, 1)) {',
    killedBy: { file: PROPERTY, title: EACH },
  },
  'affected-snapshot-forgotten': {
    bug: 'what a snapshot sent of a node is not remembered: its next change is taken for a new node (issue 16)',
    file: 'src/watcher/outbox/outbox.ts',
    before: '      noteSentNode(tracked, projection);\n',
    after: '',
    killedBy: { file: PROPERTY, title: EACH },
  },
  'affected-gone-node-ignored': {
    bug: 'a node that is gone concerns nobody (issue 16)',
    file: FINDER,
    before: "if (after?.kind !== 'Node' || before === 'opaque') return undefined;",
    after: "if (after?.kind !== 'Node' || before === 'opaque') continue;",
    killedBy: { file: PROPERTY, title: LAST },
  },
  'affected-names-all': {
    bug: 'a node that nobody is eligible for wakes every key (issue 16)',
    file: FINDER,
    before: "if (former === undefined && placement !== 'run') bare.add(after.name);",
    after: "if (former === undefined && placement !== 'run') return true;",
    killedBy: { file: PROPERTY, title: 'wakes nobody until that is gone' },
  },
  'affected-of-other-rules': {
    bug: 'keys are taken from a watcher that decides by other rules of placement (issue 16)',
    file: HINTS,
    before: 'affected?.rules === PLACEMENT_RULES ?',
    after: 'affected !== undefined ?',
    killedBy: { file: HINTS_TEST, title: 'decides by other rules of placement' },
  },
  'affected-hides-owners': {
    bug: 'named keys take the place of those of the pods in the same message (issue 16)',
    file: HINTS,
    before: 'if (owners.length === 0) return',
    after: 'if (owners.length === 0 || ofNodes.length > 0) return',
    killedBy: { file: HINTS_TEST, title: 'and what else is in the message' },
  },
};
