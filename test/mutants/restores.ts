/** Bugs by which a store that was restored is believed, though what was read of it tells a doubt (protocol 15). */
import type { PlantedBug } from './planted-bug.ts';

const RESTORED_TEST = 'test/unit/app/reconcile/restored-etcd.test.ts';
const READS = 'src/adapters/kubernetes/api/daemon-set-reads.ts';
const READS_TEST = 'test/unit/adapters/kubernetes/api/daemon-set-reads.test.ts';

/** The rows of restores of etcd that nobody told of yet. */
export const RESTORE_BUGS: Readonly<Record<string, PlantedBug>> = {
  'doubtful-store-is-believed': {
    bug: 'pods are made beside those that came back: only versions of DaemonSets were compared (S2, seed 131291545)',
    file: 'src/app/reconcile/confirm/confirm.ts',
    before: "known === undefined && live?.kind === 'confirmed' && live.isDoubtful",
    after: 'known === undefined && live === undefined',
    killedBy: { file: RESTORED_TEST, title: 'while it is behind what was seen of pods' },
  },
  'doubt-is-forgotten': {
    bug: 'a run that saw a restored store leaves none to list later, when the store has passed what was seen (S2)',
    file: 'src/app/reconcile/confirm/confirm.ts',
    before: 'live?.isDoubtful === true ? null : foreign',
    after: 'foreign',
    killedBy: { file: RESTORED_TEST, title: 'nor later in that era' },
  },
  'doubt-leaves-the-list': {
    bug: 'a list of before a restore still counts in the state (S2)',
    file: 'src/app/reconcile/run/record-state.ts',
    before: 'const isKept = foreignListed === undefined &&',
    after: 'const isKept =',
    killedBy: { file: RESTORED_TEST, title: 'nor later in that era' },
  },
  'doubted-list-is-told': {
    bug: 'a list that one key doubts tells the next one that no etcd was restored (S2)',
    file: READS,
    before: 'question?.isDoubtful(version) !== false',
    after: 'question === undefined',
    killedBy: { file: READS_TEST, title: 'or somebody doubted it' },
  },
  'unasked-list-is-told': {
    bug: 'a list of which nobody could doubt anything tells that no etcd was restored (S2)',
    file: READS,
    before: 'question?.isDoubtful(version) !== false',
    after: 'question?.isDoubtful(version) === true',
    killedBy: { file: READS_TEST, title: 'is listed where nobody asked of that list' },
  },
  'unseen-names-are-forgotten': {
    bug: 'names that only the state of a DaemonSet knows go with it, and an etcd that is restored brings it back (S13, seed 131291579)',
    file: 'src/app/ingest/slices/former-uids.ts',
    before: 'return made || buried',
    after: 'return buried',
    killedBy: {
      file: 'test/unit/app/ingest/tombstones.test.ts',
      title: 'that only its state knows',
    },
  },
  'write-alone-is-told': {
    bug: 'a status that a restored store took tells that no etcd was restored (S2)',
    file: READS,
    before: 'if (known === undefined || compareResourceVersions(version, known) < 0) return;',
    after: 'if (known !== undefined && compareResourceVersions(version, known) < 0) return;',
    killedBy: { file: READS_TEST, title: 'is listed after a write alone' },
  },
};
