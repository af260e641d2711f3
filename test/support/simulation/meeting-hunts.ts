/** Hunts in which two features meet: a freeze and adoptions, a backlog and a watcher that is overtaken, one name in two namespaces. */
import { ORDERLY, type Hunt } from './hunt.ts';

const ON_DELETE = { spec: { updateStrategy: { type: 'OnDelete' }, minReadySeconds: 0 } };

/** The hunts by name. */
export const MEETING_HUNTS = {
  /** A DaemonSet that is made again adopts what was left, beside nodes that have no pod, while the stack is frozen and thawed (S17). */
  'freezes-of-adoptions': {
    profile: 'baseline',
    setting: {
      ...ORDERLY,
      ...ON_DELETE,
      nodesCount: 9,
      setsCount: 1,
      podStartMsMax: 400,
      requestMsMax: 300,
    },
    cycle: [
      ['orphan-set', 20, 200],
      ['end-pod', 20, 100],
      ['end-pod', 20, 100],
      ['end-pod', 20, 4000],
      ['freeze-stack', 20, 1500],
      ['freeze-stack', 20, 1500],
      ['freeze-stack', 20, 1500],
      ['freeze-stack', 20, 1500],
      ['freeze-stack', 5000, 20_000],
    ],
    stepsCount: 54,
  },
  /** Messages of an overtaken watcher wait for up to an hour, while nobody can be asked who holds the Lease (S8, protocol 15). */
  'overtaken-backlogs': {
    profile: 'baseline',
    setting: { ...ORDERLY, ...ON_DELETE, nodesCount: 4, podStartMsMax: 400 },
    cycle: [
      ['take-credential', 100, 2000],
      ['stall-queue', 100, 2000],
      ['second-watcher', 20, 400],
      ['change-node', 20, 400],
      ['change-node', 20, 400],
      ['change-node', 30 * 60_000, 65 * 60_000],
      ['restart-watcher', 60_000, 120_000],
    ],
    stepsCount: 21,
  },
  /** Each DaemonSet has a twin of its name in another namespace: what a node does concerns both, at once. */
  'twin-names': {
    profile: 'baseline',
    setting: { ...ORDERLY, ...ON_DELETE, hasTwins: true, nodesCount: 4, podStartMsMax: 400 },
    cycle: [
      ['change-node', 20, 400],
      ['change-node', 5000, 60_000],
      ['remake-node', 20, 400],
      ['remove-node', 5000, 60_000],
      ['change-node', 5000, 60_000],
      ['end-pod', 20, 400],
    ],
    stepsCount: 18,
  },
} as const satisfies Readonly<Record<string, Hunt>>;
