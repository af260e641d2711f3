/**
 * Bugs of positions that META keeps (ADR 0052): of stamps that fall, of a META that was lost. And of
 * what spares META and the manifest a list of DaemonSets (ADR 0077).
 */
import type { PlantedBug } from './planted-bug.ts';

const POSITIONS = 'src/app/ingest/slices/positions.ts';
const POSITIONS_TEST = 'test/unit/app/ingest/slices/positions.test.ts';

/** The rows of positions. */
export const POSITION_BUGS: Readonly<Record<string, PlantedBug>> = {
  'position-forgets-its-item': {
    bug: 'a DaemonSet that enters META is below its own slices: every one asks for a snapshot',
    file: POSITIONS,
    before: '(await view.readPosition(ref)) ?? NO_POSITION',
    after: 'NO_POSITION',
    killedBy: { file: POSITIONS_TEST, title: 'enters META with the highest of its item' },
  },
  'position-falls': {
    bug: 'a late message lowers a position, and a key is skipped for a stamp that came before (S8)',
    file: POSITIONS,
    before: 'podsChanged: laterStamp(former.podsChanged, by.podsChanged)',
    after: 'podsChanged: by.podsChanged',
    killedBy: { file: POSITIONS_TEST, title: 'never falls in META' },
  },
  'positions-without-bound': {
    bug: 'META grows with every DaemonSet until the table refuses it',
    file: POSITIONS,
    before: 'slice(0, Math.max(0, roomCount))',
    after: 'slice(0)',
    killedBy: { file: POSITIONS_TEST, title: 'where META has no room' },
  },
  'positions-of-the-gone': {
    bug: 'DaemonSets that are gone keep their room in META for ever',
    file: 'src/app/ingest/message/meta-transitions.ts',
    before: 'positions: positionsOf(context.standing, positions),',
    after: 'positions: positions ?? {},',
    killedBy: { file: POSITIONS_TEST, title: 'leave with their DaemonSets' },
  },
  'lost-meta-forgets-slices': {
    bug: 'after a META that was lost, slices stand above all that comes (row 34, L1)',
    file: 'src/app/ingest/slices/standing-stamps.ts',
    before: '    await latestOfSlices(clusterUid, uids, dependencies),\n',
    after: '',
    killedBy: {
      file: 'test/unit/app/ingest/slices/standing-stamps.test.ts',
      title: 'comes after slices whose position went with META',
    },
  },
  'portion-covers-others': {
    bug: 'a portion of DaemonSets sweeps those that portions before it hold (issue 40)',
    file: 'src/core/projections/set-hash.ts',
    before: '(after === undefined || key > after)',
    after: '(after === undefined || key >= after)',
    killedBy: {
      file: 'test/unit/app/ingest/snapshots.test.ts',
      title: 'takes what a portion covers and does not hold',
    },
  },
  'begun-set-keeps-what-stood': {
    bug: 'a set that begins keeps what a watcher before left in it (issue 40)',
    file: 'src/app/ingest/apply/apply-content.ts',
    before: 'begun.has(set);',
    after: "begun.has(set) && set === 'nodes';",
    killedBy: {
      file: 'test/unit/app/ingest/snapshots.test.ts',
      title: 'a delta into a slice that an older epoch left replaces it',
    },
  },
  'last-portion-ends-early': {
    bug: 'the last portion of DaemonSets covers no name beyond the last of them (issue 40)',
    file: 'src/watcher/outbox/snapshot.ts',
    before: 'this.#ahead = upTo === undefined ? undefined : { after: upTo };',
    after: 'this.#ahead = this.#portion > 1 || upTo === undefined ? undefined : { after: upTo };',
    killedBy: {
      file: 'test/property/app/many-daemon-sets.test.ts',
      title: 'a snapshot of 1,200 DaemonSets',
    },
  },
  'orphans-in-every-set': {
    bug: 'an orphan stands with every DaemonSet that selects it: thousands of them end the epoch when it changes (issue 40)',
    file: 'src/watcher/project/membership.ts',
    before: 'if (sets.length >= ORPHAN_SETS_MAX) break;',
    after: '',
    killedBy: {
      file: 'test/unit/watcher/orphans.test.ts',
      title: 'that hundreds of DaemonSets select ends no epoch',
    },
  },
};
