/**
 * The catalogue of faults and the rules of the protocol, in short, for docs/promise.md.
 *
 * Which tests prove a row is not said here: titles of tests name it (`row 21`, `protocol 3`). A row that no test can
 * name yet has a reason here instead, never beside a test. Rows 1 to 70 are faults that architectures like this one
 * have; rows 71 to 92 are schedules that reviews of the design found.
 */

/** One row of the catalogue, or one rule. */
export interface CatalogueEntry {
  readonly number: number;
  readonly text: string;
  /** Why no test names it: a later part, or not applicable. */
  readonly reason?: string;
}

/** Faults and schedules. */
export const ROWS: readonly CatalogueEntry[] = [
  { number: 1, text: 'crash after any write, also before the first effect' },
  { number: 2, text: 'a snapshot older than its own write' },
  { number: 3, text: 'time travel to an older API server' },
  { number: 4, text: 'an event hidden until something else cancelled it' },
  {
    number: 5,
    text: 'end state and counts of writes differ from a run without faults',
  },
  {
    number: 6,
    text: 'a spec that went from A to B and back to A, against one that never moved',
  },
  { number: 7, text: 'a bad image, then its revert' },
  {
    number: 8,
    text: 'another client edits, deletes and creates pods',
  },
  { number: 9, text: 'a request dropped with an error' },
  { number: 10, text: 'a request applied, its answer lost' },
  { number: 11, text: 'conflicts on every status write for a while' },
  { number: 12, text: '30 % of pod creates answered with 500' },
  { number: 13, text: 'the clock jumps six minutes while the cache is stale' },
  { number: 14, text: 'clocks that go back, or are ten minutes off' },
  { number: 15, text: 'everything at once, in a mix of its own for each seed' },
  { number: 16, text: 'a fault rule that matches nothing' },
  { number: 17, text: 'a simulator that is not deterministic' },
  { number: 18, text: 'a known bug, seeded on purpose' },
  {
    number: 19,
    text: 'every interleaving of two runs on two or three nodes, to a stated depth',
  },
  { number: 20, text: 'two runs of one key, without a lease' },
  { number: 21, text: 'a zombie that resumes after a newer run has finished' },
  { number: 22, text: 'messages twice, and in another order' },
  {
    number: 23,
    text: 'visibility that expires in the middle of a run',
  },
  { number: 24, text: 'one bad record among ten; a malformed list of failures' },
  { number: 25, text: 'a poison key: unparsable, or too large' },
  { number: 26, text: 'a message lost for ever' },
  {
    number: 27,
    text: 'a queue that stands still for ten minutes, then its backlog',
  },
  { number: 28, text: 'a throttled function' },
  { number: 29, text: 'a hard stop at the deadline' },
  {
    number: 30,
    text: 'freeze and thaw with a pending promise',
  },
  { number: 31, text: 'warm memory of another cluster, or an old credential' },
  { number: 32, text: 'a throttled table, a hot partition' },
  {
    number: 33,
    text: 'its own success seen as a failed condition; an expired item still there',
  },
  { number: 34, text: 'a record lost, or restored from an old backup' },
  { number: 35, text: 'a list that fails, or whose continue token expires on page 2' },
  { number: 36, text: 'a watch that dies silently; a callback that throws' },
  { number: 37, text: 'a quiet cluster: no events for ten minutes' },
  { number: 38, text: 'a DaemonSet deleted and made again under its name' },
  { number: 39, text: 'a pod or a node deleted and made again under its name' },
  { number: 40, text: 'a stale delete of a pod that was made again under its name' },
  { number: 41, text: 'a name that is taken, by a foreign owner or for another node' },
  { number: 42, text: 'a pod born terminating' },
  {
    number: 43,
    text: 'a delete of a pod that is gone or terminating',
  },
  { number: 44, text: 'a pod that fails again and again' },
  { number: 45, text: 'one node in back-off' },
  { number: 46, text: 'a pod that succeeded' },
  { number: 47, text: 'a terminal pod held by a finalizer' },
  {
    number: 48,
    text: 'a pod stuck terminating on a dead node',
  },
  {
    number: 49,
    text: 'a node that is not ready during a rollout',
  },
  { number: 50, text: 'two updates within minReadySeconds' },
  {
    number: 51,
    text: 'surge with random unreadiness, and under disk pressure',
  },
  {
    number: 52,
    text: 'taints added and removed, tolerations changed',
  },
  { number: 53, text: "agreement of the predicates with the original's" },
  { number: 54, text: 'a collision of revision hashes' },
  {
    number: 55,
    text: 'foreign revisions, overlapping selectors, an orphaning cascade',
  },
  { number: 56, text: 'a rollback' },
  { number: 57, text: 'a namespace that is terminating, or over its quota' },
  { number: 58, text: 'the built-in controller at work as well' },
  { number: 59, text: '5,000 heartbeats in ten seconds' },
  { number: 60, text: 'a storm of nodes, from none to 1,000' },
  { number: 61, text: 'a noisy cluster' },
  { number: 62, text: 'fakes that drift from the real thing' },
  { number: 63, text: 'a forged cluster id' },
  { number: 64, text: 'an inflated version mark' },
  {
    number: 65,
    text: 'a kubeconfig that names programs, files or proxies',
  },
  {
    number: 66,
    text: 'an endpoint that leads elsewhere: metadata addresses, rebinding, redirects',
  },
  { number: 67, text: 'hostile text: prototypes, deep nesting, great sizes, newlines' },
  { number: 68, text: 'a canary secret' },
  { number: 69, text: 'rights that are missing, or too many' },
  { number: 70, text: 'packages that are not what was locked' },
  { number: 71, text: 'etcd restored from a backup' },
  { number: 72, text: 'Lease deleted; restarts; two watchers overlap' },
  { number: 73, text: 'an ingest between two reads of one run' },
  { number: 74, text: 'numbering starts again' },
  { number: 75, text: 'crash between outcomes and status' },
  { number: 76, text: 'the older of two runs wins the lock' },
  { number: 77, text: 'a delete with a stale resourceVersion' },
  { number: 78, text: 'a delete of a killed function arrives late' },
  { number: 79, text: 'ingest outlives its visibility' },
  { number: 80, text: 'an old watcher sends past the list of the new one' },
  { number: 81, text: 'a snapshot half applied; a slice missing' },
  { number: 82, text: 'a DaemonSet deleted while the watcher was down' },
  { number: 83, text: 'a message dead-lettered, the next one arrives' },
  { number: 84, text: 'a list in key order, a heartbeat racing the outbox' },
  { number: 85, text: 'an orphan seen before its DaemonSet' },
  { number: 86, text: 'a successor create in flight; its predecessor vanishes' },
  { number: 87, text: 'view lost or restored beside foreign names' },
  { number: 88, text: 'AlreadyExists, each case' },
  { number: 89, text: 'ambiguous and failed sends' },
  { number: 90, text: 'a cluster rebuilt under its old id' },
  { number: 91, text: 'its own create folded with its deletion' },
  { number: 92, text: 'a freeze in the middle of 250 writes' },
];

/** Rules of the protocol; each was bought with a schedule that breaks a promise without it. */
export const RULES: readonly CatalogueEntry[] = [
  { number: 1, text: 'silence or lag with work to do defers, capped, then a live read decides' },
  {
    number: 2,
    text: 'only a cut carries marks; no delete while it is open; newer slices are read again',
  },
  { number: 3, text: 'a mark vouches only for what a write returned' },
  { number: 4, text: 'an intent without an outcome is not waited for' },
  { number: 5, text: 'a create is resolved by 201, 409 or twice the time-out' },
  { number: 6, text: 'a missing state beside pods forbids creates and deletes for a while' },
  { number: 7, text: 'before each batch: deadline, freeze, mode, version, live DaemonSet' },
  { number: 8, text: 'a status conflict is never retried with the same counts' },
  {
    number: 9,
    text: 'creates beside foreign names are guarded by one live list; takeover awaits a snapshot',
  },
  { number: 10, text: 'the slot name cuts the prefix, never the hash' },
  { number: 11, text: 'the memo holds stamps as read, and expires' },
  { number: 12, text: 'the due time is replaced, sent when it differs, sent again when near' },
  { number: 13, text: 'one configuration version; an unreadable registry counts as frozen' },
  {
    number: 14,
    text: 'positions are ordered by era first; the Lease write carries the incarnation',
  },
  { number: 15, text: 'a version below the own mark means that etcd was restored' },
  { number: 16, text: 'slices and deltas in order; the announcement fixes the slice count' },
  {
    number: 17,
    text: 'a snapshot is asked for until it comes, and comes by itself every six hours',
  },
  { number: 18, text: 'each loss is counted; a manifest closes only what was not broken since' },
  {
    number: 19,
    text: 'set hashes find what was lost unnoticed; one snapshot an hour because of them',
  },
  {
    number: 20,
    text: 'slices, names, positions, META, hints, in this order; redelivery hints again',
  },
  { number: 21, text: 'a delta names the sets that its object leaves' },
  {
    number: 22,
    text: 'what is too large or undigestible travels opaque and harms its own set only',
  },
  { number: 23, text: 'throttling never exhausts receives; one failing cluster holds no other' },
  {
    number: 24,
    text: "the cluster's UID is checked in each message, and once per warm credential",
  },
];
