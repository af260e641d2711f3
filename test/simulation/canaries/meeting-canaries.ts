/** Canaries of two features that meet: a stranger planted them, and nothing saw them. */
import type { Canary } from './canary.ts';

/** The canaries by name. */
export const MEETING_CANARIES: Readonly<Record<string, Canary>> = {
  'creates-after-adoptions': {
    bug: 'a freeze during adoptions does not stop the creates after them (protocol 7)',
    at: 'src/app/reconcile/execute/act.ts#actOnPlan',
    change: 'isStale: isPatching',
    to: 'isStale: false',
    breaks: ['S17'],
    in: 'freezes-of-adoptions',
    seedsMax: 60,
  },
  'backlog-is-silence': {
    bug: 'a backlog of messages counts as silence: an overtaken watcher begins a new history (protocol 15)',
    at: 'src/app/ingest/message/lease-check.ts#decideOlderEpoch',
    change: 'context.sentAtMs - meta.lastSentAtMs',
    to: 'clock.nowMs() - meta.lastSentAtMs',
    breaks: ['S8'],
    in: 'overtaken-backlogs',
    seedsMax: 20,
  },
  'twin-is-not-hinted': {
    bug: 'of two DaemonSets of one name, in two namespaces, one is not hinted',
    at: 'src/app/ingest/ingest-message.ts#distinct',
    change: '[`${namespace}/${name}`, { namespace, name }]',
    to: '[name, { namespace, name }]',
    breaks: ['L1'],
    in: 'twin-names',
    seedsMax: 10,
  },
};
