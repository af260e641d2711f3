/** Planted bugs of what watchers report, and what is due (table.ts), by the file that they change. */
import type { PlantedBugs } from './planted-bug.ts';

/** The rows by name. */
export const INGEST_BUGS: PlantedBugs = {
  'silence-of-first-page': {
    bug: 'open requests of the hundred-and-first DaemonSet are not waited for',
    at: 'src/app/clusters/await-silence.ts#findLastDeath',
    change: '} } return lastMs;',
    to: '} break; } return lastMs;',
    killedBy:
      'test/unit/app/clusters/await-silence.test.ts: waits for an open request of any DaemonSet, beyond the first hundred too',
  },
  'begun-set-keeps-what-stood': {
    bug: 'a set that begins keeps what a watcher before left in it',
    at: 'src/app/ingest/apply/apply-content.ts#applyDeltas',
    change: 'begun.has(set);',
    to: "begun.has(set) && set === 'nodes';",
    killedBy:
      'test/unit/app/ingest/snapshots.test.ts: a delta into a slice that an older epoch left replaces it',
  },
  'asked-by-a-clock-ahead': {
    bug: 'a snapshot that a clock which was ahead asked for is not asked for again until that time',
    at: 'src/app/clusters/ask-for-snapshot.ts#isWithin',
    change: 'nowMs - sinceMs < intervalMs && nowMs >= sinceMs',
    to: 'nowMs - sinceMs < intervalMs',
    killedBy:
      'test/unit/app/ingest/epochs.test.ts: a clock that was ahead noted the request before',
  },
  'silence-told-of-who-stood-by': {
    bug: 'a watcher that stood by is told as silent',
    at: 'src/core/log/silence-entry.ts#silenceEntry',
    change: 'before === undefined || before.watcherStandsBy !== undefined',
    to: 'before === undefined',
    killedBy: 'test/unit/app/ingest/silences.test.ts: is not told of one that stood by',
  },
  'any-sender': {
    bug: 'whoever may send to the queue speaks for any cluster (14 A.3, row 63)',
    at: 'src/app/ingest/message/identity.ts#refusalOf',
    change: "if (registration.senderRoleId !== context.senderRoleId) return 'wrong-sender';",
    to: "if (registration.senderRoleId === '') return 'wrong-sender';",
    killedBy: 'test/simulation/identity.test.ts: row 63, S6: messages of a wrong sender',
  },
  'poison-is-thrown': {
    bug: 'a body that cannot be read fails its batch (row 25, L4)',
    at: 'src/app/ingest/message/ingest-refused.ts#ingestRefused',
    change: 'const { code, field, header } = parsed;',
    to: "const { code, field, header } = parsed; if (code !== undefined) throw new Error('poison');",
    killedBy: 'test/simulation/identity.test.ts: L4, row 25',
  },
  'positions-of-the-gone': {
    bug: 'DaemonSets that are gone keep their room in META for ever',
    at: 'src/app/ingest/message/meta-transitions.ts#closed',
    change: 'positions: positionsOf(context.standing, positions)',
    to: 'positions: positions ?? {}',
    killedBy: 'test/unit/app/ingest/slices/positions.test.ts: leave with their DaemonSets',
  },
  'ingest-asks-once': {
    bug: 'ingest asks again for a lost snapshot after seventeen hours',
    at: 'src/app/ingest/process/dependencies.ts#defaultIngestOptions',
    change: 'snapshotRequestEveryMs: 60_000',
    to: 'snapshotRequestEveryMs: 60_000_000',
    killedBy: 'test/unit/app/ingest/epochs.test.ts: asks for a snapshot at most once a minute',
  },
  'epochs-wait-longer': {
    bug: 'a lower epoch waits eighteen minutes instead of thirteen (14 A.3, protocol 15)',
    at: 'src/app/ingest/process/dependencies.ts#defaultIngestOptions',
    change: 'epochSilenceMs: 780_000',
    to: 'epochSilenceMs: 1_080_000',
    killedBy: 'test/simulation/restarts.test.ts: protocol 15: without a credential',
  },
  'older-tombstones-take-the-place-of-all': {
    bug: 'what moves out of a slice takes the place of what moved before',
    at: 'src/app/ingest/slices/write-slices.ts#withRoomForTombstones',
    change: 'keepTombstones([...gone, ...former.gone]',
    to: 'keepTombstones([...gone]',
    killedBy: 'test/unit/app/ingest/slices/older-tombstones.test.ts: and add up',
  },
  'position-falls': {
    bug: 'a late message lowers a position, and a key is skipped for a stamp that came before (S8)',
    at: 'src/app/ingest/slices/positions.ts#raised',
    change: 'podsChanged: laterStamp(former.podsChanged, by.podsChanged)',
    to: 'podsChanged: by.podsChanged',
    killedBy: 'test/unit/app/ingest/slices/positions.test.ts: never falls in META',
  },
  'lost-meta-forgets-slices': {
    bug: 'after a META that was lost, slices stand above all that comes (row 34, L1)',
    at: 'src/app/ingest/slices/standing-stamps.ts#firstEra',
    change: 'await latestOfSlices(clusterUid, uids, dependencies)',
    to: '',
    killedBy:
      'test/unit/app/ingest/slices/standing-stamps.test.ts: comes after slices whose position went with META',
  },
  'walk-without-a-reserve': {
    bug: 'a walk of resync goes on until its function is stopped',
    at: 'src/app/resync/dependencies.ts#WALK_RESERVE_MS',
    to: '0',
    killedBy: 'test/unit/composition/dependent-bounds.test.ts: is over before its function is',
  },
  'hints-every-sixty-hours': {
    bug: 'resync hints every key once in sixty hours instead of six',
    at: 'src/app/resync/dependencies.ts#defaultResyncOptions',
    change: 'hintEveryMs: 6 * 3_600_000',
    to: 'hintEveryMs: 60 * 3_600_000',
    killedBy: 'test/unit/app/resync/resync.test.ts: costs a hint its hour',
  },
  'snapshots-asked-for-once': {
    bug: 'resync asks again for a lost snapshot after three and a half days',
    at: 'src/app/resync/dependencies.ts#defaultResyncOptions',
    change: 'snapshotRequestEveryMs: 300_000',
    to: 'snapshotRequestEveryMs: 300_000_000',
    killedBy:
      'test/unit/composition/dependent-bounds.test.ts: is asked for again twice before the doctor',
  },
  'lost-timers-found-late': {
    bug: 'a timer counts as lost a hundred minutes after its time',
    at: 'src/app/resync/dependencies.ts#defaultResyncOptions',
    change: 'overdueGraceMs: 60_000',
    to: 'overdueGraceMs: 6_000_000',
    killedBy: 'test/unit/app/resync/resync.test.ts: finds a lost timer a quarter of an',
  },
  'silence-told-late': {
    bug: 'resync tells of silent clusters after hours, reconcile leaves them alone sooner',
    at: 'src/app/resync/dependencies.ts#defaultResyncOptions',
    change: 'silenceBoundMs: 15 * 60_000',
    to: 'silenceBoundMs: 15 * 3_600_000',
    killedBy:
      'test/unit/composition/dependent-bounds.test.ts: is judged alike by who decides and by who tells',
  },
  'no-due-time-is-overdue': {
    bug: 'keys without a due time are hinted as overdue every quarter of an hour',
    at: 'src/app/resync/resync.ts#findOverdue',
    change: '(states[index]?.dueAtMs ?? Infinity)',
    to: '(states[index]?.dueAtMs ?? 0)',
    killedBy:
      'test/unit/app/resync/resync.test.ts: F11: a tick that comes late, or not at all, costs a hint its hour, never its turn',
  },
  'metric-renamed-in-code': {
    bug: 'what begins in clusters is counted under another name than the alarms look for',
    at: 'src/app/resync/resync.ts#countTroubles',
    change: "metrics.count('ClusterTroubles'",
    to: "metrics.count('ClusterTrouble'",
    killedBy: 'test/unit/infra/alarms.test.ts: count what the code counts, under that name',
  },
  'questions-are-left-behind': {
    bug: 'resync ends while API servers are being asked',
    at: 'src/app/resync/resync.ts#resyncClusters',
    change: 'await tally.asking.finish();',
    to: '',
    killedBy:
      'test/unit/functions/deployed-composition.test.ts: reads the token that only asks, where it only asks (B.3)',
  },
};
