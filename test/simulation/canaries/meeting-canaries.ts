/** Canaries of two features that meet: a stranger planted them, and nothing saw them. */
import type { Canary } from './canary.ts';

/** The canaries by name. */
export const MEETING_CANARIES: Readonly<Record<string, Canary>> = {
  'creates-after-adoptions': {
    bug: 'a freeze during adoptions does not stop the creates after them (protocol 7)',
    file: 'src/app/reconcile/execute/act.ts',
    before: 'isStale: isPatching,',
    after: 'isStale: false,',
    breaks: ['S17'],
    in: 'freezes-of-adoptions',
    seedsMax: 60,
  },
  'backlog-is-silence': {
    bug: 'a backlog of messages counts as silence: an overtaken watcher begins a new history (protocol 15)',
    file: 'src/app/ingest/message/lease-check.ts',
    before: 'context.sentAtMs - meta.lastSentAtMs',
    after: 'clock.nowMs() - meta.lastSentAtMs',
    breaks: ['S8'],
    in: 'overtaken-backlogs',
    seedsMax: 20,
  },
  'twin-is-not-hinted': {
    bug: 'of two DaemonSets of one name, in two namespaces, one is not hinted',
    file: 'src/app/ingest/hints.ts',
    before: '[`${namespace}/${name}`, { namespace, name }]',
    after: '[name, { namespace, name }]',
    breaks: ['L1'],
    in: 'twin-names',
    seedsMax: 10,
  },
};
