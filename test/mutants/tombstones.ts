/** Bugs by which a tombstone is lost on its way out of a slice, or never read again (S13, ADR 0076). */
import type { PlantedBug } from './planted-bug.ts';

const OLDER = 'src/app/ingest/slices/older-tombstones.ts';
const OLDER_TEST = 'test/unit/app/ingest/slices/older-tombstones.test.ts';
const READ = 'src/app/reconcile/read/load-set.ts';
const READ_TEST = 'test/unit/app/reconcile/read/read-older.test.ts';
const SLICES_TEST = 'test/unit/app/ingest/tombstones.test.ts';

/** The rows of older tombstones. */
export const TOMBSTONE_BUGS: Readonly<Record<string, PlantedBug>> = {
  'older-tombstones-take-the-place-of-all': {
    bug: 'what moves out of a slice takes the place of what moved before',
    file: OLDER,
    before: 'keepTombstones([...gone, ...former.gone], ',
    after: 'keepTombstones([...gone], ',
    killedBy: { file: OLDER_TEST, title: 'and add up' },
  },
  'older-tombstones-over-anothers': {
    bug: 'a slice lets go of tombstones that another writer was faster to move elsewhere',
    file: OLDER,
    before: "if (result === 'lost') {",
    after: "if (result !== 'written' && gone.length === 0) {",
    killedBy: { file: OLDER_TEST, title: 'an item that moved on' },
  },
  'older-tombstones-remembered-after-a-loss': {
    bug: 'a process goes on with the item that it lost by, until its message is a dead letter',
    file: OLDER,
    before: 'processCache.keepOlder(ref, undefined);',
    after: 'processCache.keepOlder(ref, former);',
    killedBy: { file: OLDER_TEST, title: 'an item that moved on' },
  },
  'older-tombstones-of-a-stale-slice': {
    bug: 'a process that remembers a slice of before drops tombstones of pods that still stood in it (seed 196414711)',
    file: OLDER,
    before: 'isLiving: () => false',
    after: 'isLiving: (uid) => slice.objects.some(({ object }) => object.uid === uid)',
    killedBy: { file: OLDER_TEST, title: 'a slice of before, in which their pods still stand' },
  },
  'older-tombstones-for-one-write': {
    bug: 'the next write of a slice forgets which older tombstones it has',
    file: 'src/app/ingest/slices/write-slices.ts',
    before: '...(areOlderNeeded(older, target.sentAtMs) ? { older } : {}),',
    after: '',
    killedBy: { file: OLDER_TEST, title: 'and add up' },
  },
  'older-tombstones-for-ever': {
    bug: 'a slice refers to older tombstones for as long as it stands: each cold run reads them',
    file: 'src/app/ingest/slices/write-slices.ts',
    before: '...(areOlderNeeded(older, target.sentAtMs) ? { older } : {}),',
    after: '...(older === undefined ? {} : { older }),',
    killedBy: { file: OLDER_TEST, title: 'ten minutes after the last' },
  },
  'older-tombstones-of-a-former-read': {
    bug: 'a warm process takes the older tombstones that it read first for all that came later',
    file: READ,
    before: 'remembered !== undefined && remembered.version >= version',
    after: 'remembered !== undefined',
    killedBy: { file: READ_TEST, title: 'once for each version' },
  },
  'older-tombstones-that-are-too-old': {
    bug: 'an item that was restored counts for the one that a slice refers to',
    file: READ,
    before: 'older === undefined || older.version < version',
    after: 'older === undefined',
    killedBy: { file: READ_TEST, title: 'older than what their slice refers to' },
  },
  'older-tombstones-that-are-not-there': {
    bug: 'a slice whose older tombstones are lost is read as one that has none',
    file: READ,
    before: 'if (older === undefined || older.version < version) return undefined;',
    after: 'if (older === undefined) continue;',
    killedBy: { file: READ_TEST, title: 'not there' },
  },
  'older-tombstones-left-behind': {
    bug: 'of slices that a smaller view drops, older tombstones are not carried',
    file: 'src/app/ingest/slices/carry-tombstones.ts',
    before: 'return [...own, ...(older?.gone ?? [])];',
    after: 'return older === undefined ? [] : own;',
    killedBy: { file: SLICES_TEST, title: 'outlast slices that a smaller view has no more' },
  },
  'older-tombstones-swept': {
    bug: 'a DaemonSet that went is swept while its older tombstones are needed (row 71)',
    file: 'src/app/ingest/slices/former-uids.ts',
    before: 'areOlderNeeded(older, nowMs) || gone.some(',
    after: 'gone.some(',
    killedBy: { file: SLICES_TEST, title: 'a restored etcd may bring it back' },
  },
};
