/**
 * Bugs that a first week meets: a certificate authority that changes, worlds that are wide, a template over the one before.
 */
import type { PlantedBug } from './planted-bug.ts';

const AUTHORITY = 'test/integration/adapters/kubernetes/changed-authority.test.ts';
const HEALS = 'heals within a minute of the file';

/** The rows of week one (14 A.8). */
export const WEEK_ONE_BUGS: Readonly<Record<string, PlantedBug>> = {
  'authority-read-once': {
    bug: 'the watcher reads its authority at the start alone: after a change it is blind until somebody restarts it (14 A.8)',
    file: 'src/adapters/kubernetes/settings/program-settings.ts',
    before: 'if (nowMs - known.readMs >= FILE_LIFETIME_MS)',
    after: 'if (nowMs < known.readMs)',
    killedBy: { file: AUTHORITY, title: HEALS },
  },
  'streams-keep-the-authority': {
    bug: 'requests follow a changed authority, lists and streams do not (14 A.8)',
    file: 'src/adapters/kubernetes/watch/watch-connection.ts',
    before: 'new TrustedPool(options, ',
    after: "new TrustedPool({ ...options, readCaPem: () => options.caPem ?? '' }, ",
    killedBy: { file: AUTHORITY, title: HEALS },
  },
  'empty-authority-trusted': {
    bug: 'a file that is just being exchanged is taken for an authority, and then nobody is trusted (14 A.8)',
    file: 'src/adapters/kubernetes/settings/program-settings.ts',
    before: '(known) => certificateIn(caFile) ?? known',
    after: "() => readSettingFile(caFile, 'CA')",
    killedBy: { file: AUTHORITY, title: 'goes on with what it knew' },
  },
  'untrusted-says-nothing': {
    bug: 'who looks for the reason of a refused certificate finds a code of OpenSSL (14 A.8)',
    file: 'src/adapters/kubernetes/transport/tls-fault.ts',
    before: "tlsFaultOf(code) === 'untrusted'\n    ?",
    after: "tlsFaultOf(code) === 'unreadable-ca'\n    ?",
    killedBy: { file: AUTHORITY, title: 'says so' },
  },
};
