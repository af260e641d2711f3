/**
 * Bugs by which two daemons of a node are replaced at once, or one that died holds a node for ever (ADR 0058, S15).
 */
import type { PlantedBug } from './planted-bug.ts';

const JUDGE = 'src/core/lane/judge-entry.ts';
const CLAIM = 'src/core/lane/claim-lane.ts';
const FIND = 'src/app/reconcile/lane/find-lane.ts';
const PASS = 'src/app/reconcile/lane/pass-lane.ts';
const JUDGE_TEST = 'test/unit/core/lane/judge-entry.test.ts';
const CLAIM_TEST = 'test/unit/core/lane/claim-lane.test.ts';
const SIMULATION = 'test/simulation/node-lane.test.ts';

/** The rows of the node lane. */
export const LANE_BUGS: Readonly<Record<string, PlantedBug>> = {
  'lane-unused-at-once': {
    bug: 'a claim whose run has not recorded its delete yet is taken over',
    file: JUDGE,
    before: ' && nowMs >= entry.deadAtMs;',
    after: ';',
    killedBy: { file: JUDGE_TEST, title: 'counts while a run that has recorded nothing yet' },
  },
  'lane-unused-for-ever': {
    bug: 'a claim whose run died before it recorded anything holds its node for ever',
    file: JUDGE,
    before: "return isUnused && isOver ? 'free' : 'held';",
    after: "return 'held';",
    killedBy: { file: JUDGE_TEST, title: 'and not after' },
  },
  'lane-record-ignored': {
    bug: 'a claim whose delete is on record is taken over once its run is dead',
    file: JUDGE,
    before: '!old.isTerminating && !isOnRecord(entry, intents) && nowMs',
    after: '!old.isTerminating && nowMs',
    killedBy: { file: JUDGE_TEST, title: 'for as long as its delete is on record' },
  },
  'lane-down-forgotten': {
    bug: 'a second claim of a node whose daemon is ill, which nothing came of, gives the node to another daemon',
    file: JUDGE,
    before: 'entry.isDown !== true || facts.placement',
    after: 'entry.pod === old.uid || facts.placement',
    killedBy: { file: JUDGE_TEST, title: 'where a claim came after one that took the daemon down' },
  },
  'lane-any-claim': {
    bug: 'an entry that was judged free takes a newer claim of the same node with it',
    file: 'src/core/lane/lane.ts',
    before: ' && left.pod === right.pod',
    after: '',
    killedBy: { file: CLAIM_TEST, title: 'unless it is another claim by now' },
  },
  'lane-nobody-wakes': {
    bug: 'who waits for a node is not told that it is free',
    file: PASS,
    before: '      await wake(release, { context, registration });\n',
    after: '',
    killedBy: { file: SIMULATION, title: 'wake who waits once a node is free' },
  },
  'lane-never-emptied': {
    bug: 'entries stay until another daemon looks into them',
    file: FIND,
    before: 'freed: [...free, ...left]',
    after: 'freed: [...left]',
    killedBy: { file: SIMULATION, title: 'end soon, and leave an empty lane' },
  },
  'lane-full-of-the-dead': {
    bug: 'an entry of a DaemonSet that is gone holds its node for ever',
    file: FIND,
    before: 'return { lane, freed: [...free, ...left], blocked, circles: order.circles };',
    after:
      "return { lane, freed: free, blocked: new Map([...blocked, ...left.map((each) => [each.node, { kind: 'replaced', by: '', message: '' }] as const)]), circles: [] };",
    killedBy: { file: SIMULATION, title: 'of a DaemonSet that is gone holds nothing' },
  },
  'lane-without-order': {
    bug: 'after is not heeded',
    file: FIND,
    before: 'if (mustWaitFor({ ...shared, placement, pods }))',
    after: "if (mustWaitFor({ ...shared, placement, pods }) && node.name === ('' as never))",
    killedBy: { file: SIMULATION, title: 'go one after the other on each node' },
  },
  'lane-waits-for-who-waits': {
    bug: 'a daemon that is ill in the middle of its replacement waits for one that goes first, and that waits for its node',
    file: FIND,
    before: '  for (const { entry } of begun) order.blocked.delete(entry.node);\n',
    after: '',
    killedBy: { file: SIMULATION, title: 'end what they have begun on a node' },
  },
  'lane-claim-before-order': {
    bug: 'a claim that nothing came of takes a daemon out of its order',
    file: JUDGE,
    before: 'const isLeft = old === undefined || old.isTerminating || isOnRecord(entry, intents);',
    after:
      'const isLeft = old === undefined || entry.pod === old.uid || isOnRecord(entry, intents);',
    killedBy: { file: JUDGE_TEST, title: 'has not begun while there is no more than a claim' },
  },
  'lane-waits-in-circles': {
    bug: 'daemons that name each other wait for ever',
    file: FIND,
    before: 'if (mayBreak && (await leadsBack(',
    after: 'if (mayBreak && !(await leadsBack(',
    killedBy: { file: SIMULATION, title: 'that name each other' },
  },
  'lane-without-waiters': {
    bug: 'a lane that refuses a claim does not note who asked',
    file: CLAIM,
    before: 'const waiters = isRefused ? withWaiter(lane.waiters, first) : lane.waiters;',
    after: 'const waiters = lane.waiters;',
    killedBy: { file: CLAIM_TEST, title: 'is granted on a node that nobody has' },
  },
};
