/**
 * Bugs that nobody meets who begins with empty tables: what the release before left is lost or misread.
 *
 * Most of them pass every test that writes and reads by the same code.
 */
import type { PlantedBug } from './planted-bug.ts';

const LEFT = 'test/regression/release-before.test.ts';
const ITEMS = 'items of the view and the registry are read by both';
const MESSAGES = 'what watchers say is read by both';

/** The rows of an upgrade (14 A.8). */
export const UPGRADE_BUGS: Readonly<Record<string, PlantedBug>> = {
  'states-under-another-key': {
    bug: 'items of a DaemonSet are looked for under another key: every state of the release before is lost (14 A.8)',
    file: 'src/adapters/dynamodb/records.ts',
    before: 'return `DS#${ref.clusterUid}/${ref.uid}`;',
    after: 'return `DAEMONSET#${ref.clusterUid}/${ref.uid}`;',
    killedBy: { file: LEFT, title: ITEMS },
  },
  'tokens-under-another-key': {
    bug: 'tokens that act are looked for under another key: every cluster waits for its renewer (14 A.8)',
    file: 'src/adapters/dynamodb/records.ts',
    before: "act: 'CREDENTIAL',",
    after: "act: 'ACT-CREDENTIAL',",
    killedBy: { file: LEFT, title: ITEMS },
  },
  'registrations-need-a-new-field': {
    bug: 'a registration without the newest field counts as none: every cluster is lost (14 A.8)',
    file: 'src/adapters/dynamodb/registration-schema.ts',
    before: 'takeoverProbedAtMs: v.exactOptional(timeSchema),',
    after: 'takeoverProbedAtMs: timeSchema,',
    killedBy: { file: LEFT, title: ITEMS },
  },
  'messages-need-a-new-field': {
    bug: 'what a watcher of the release before says is refused for the newest field (14 A.8)',
    file: 'src/adapters/sqs/schema/watcher-message-schema.ts',
    before: 'affected: v.optional(affectedSchema),',
    after: 'affected: affectedSchema,',
    killedBy: { file: LEFT, title: MESSAGES },
  },
  'revisions-under-another-label': {
    bug: 'the revision of a pod is read from another label than the release before wrote: all are restarted (14 A.8)',
    file: 'src/core/pod/pod-facts.ts',
    before: "REVISION_HASH_LABEL = 'controller-revision-hash'",
    after: "REVISION_HASH_LABEL = 'rollcall.dev/revision-hash'",
    killedBy: { file: LEFT, title: 'S1, S3: its rollout goes on under this one' },
  },
};
