/** docs/reference/codes.md: every code that a user meets, from the unions and tables that the code uses. */
import { BACKOFF_CAP_MS, BACKOFF_INITIAL_MS } from '../../src/core/pod/backoff.ts';
import { REASONS, type ReasonKind } from '../../src/core/status/reasons.ts';
import { bullets, page, sentence, term, wrapped } from './markdown.ts';
import { readUnion } from './unions.ts';
import type { Placement } from '../../src/core/model/verdict.ts';
import type { HealthState } from '../../src/core/status/health/health-facts.ts';
import type { OutageCode } from '../../src/core/status/outages.ts';

/** Text of the page. */
export function renderCodesPage(): string {
  return page('Codes', [
    wrapped('Codes are public: a code is renamed only with a line in the changelog.'),
    ...reasons(),
    '## Outages',
    wrapped(
      'An outage makes an answer untrue, or keeps Rollcall from acting. The worst stands first.',
    ),
    listOf(OUTAGES),
    '## States',
    wrapped('`rollcall status` and the column `STATE` of tables use these, the worst first.'),
    listOf(HEALTH),
    '## Phases of rollouts',
    wrapped('`rollcall rollout status`, `rollcall fleet status` and their tables.'),
    unionOf('src/core/rollout/gate-words.ts', 'RolloutPhase'),
    '## Refused orders',
    wrapped('Why an order to a rollout was not carried out. It changed nothing.'),
    unionOf('src/core/rollout/orders.ts', 'OrderRefusalCode'),
    '## Events',
    wrapped(
      'Reasons of Events on a DaemonSet. Of each type and reason nine single Events are written. The tenth combines those that follow, and raises its count, until ten minutes pass without one.',
    ),
    unionOf('src/core/model/plan.ts', 'EventReason'),
    '## Deferred runs',
    wrapped(
      'A run ends as `skipped`, `absent`, `terminating`, `settled`, `acted`, `observed`, as `refused` with a reason, or as `deferred` with one of these codes.',
    ),
    unionOf('src/app/reconcile/run/result.ts', 'DeferralCode'),
    wrapped(
      'The API server refused a write that is sent again after 2 s to 5 min, or for another generation:',
    ),
    unionOf('src/core/retry/retry.ts', 'RefusedWrite'),
    wrapped('Refused for good:'),
    unionOf('src/app/reconcile/run/result.ts', 'RefusalReason'),
    '## Refusals by an API server',
    wrapped('By reason and details of the answer, never by its text.'),
    unionOf('src/core/model/effects.ts', 'RefusalCode'),
    '## Refused endpoints',
    wrapped(
      'Why the functions do not connect to a registered address. The rules hold for each new connection.',
    ),
    unionOf('src/ports/cluster/cluster-access.ts', 'EgressRefusalReason'),
    '## Bound tokens',
    wrapped('Why the functions could not use the token of a cluster:'),
    unionOf('src/ports/cluster/cluster-access.ts', 'TokenFault'),
    '## Refused messages',
    wrapped(
      'A refusal makes one log line, one count in the metrics and one note in the registry, and nothing else. Neither holds anything of the body. Messages of watchers:',
    ),
    unionOf('src/app/ingest/message/result.ts', 'IngestRefusalCode'),
    wrapped('Sealed tokens:'),
    unionOf('src/app/credential/accept-credential.ts', 'CredentialRefusalCode'),
    '## Incomplete views',
    wrapped('Why a view waits for the next snapshot:'),
    unionOf('src/app/ingest/message/result.ts', 'LossReason'),
    '## Refusals of `npm start`',
    wrapped('A kubeconfig:'),
    unionOf('src/adapters/kubeconfig/read-files.ts', 'KubeconfigRefusalCode'),
    wrapped('A cluster:'),
    unionOf('src/engine/engine-refusal.ts', 'EngineRefusalCode'),
  ]);
}

const KINDS: Readonly<Record<ReasonKind, string>> = {
  failing: 'Failing: a pod is tried, and fails',
  held: 'Held: Rollcall, or a person, keeps the pod from coming',
  coming: 'Coming: the pod comes by itself',
  'not-wanted': 'Not wanted: no pod belongs there',
  serving: 'Serving: a pod is there and serves',
};

/** What `rollcall why` says of nodes. */
function reasons(): readonly string[] {
  const rows = Object.entries(REASONS);
  return [
    '## Reasons',
    wrapped(
      `\`rollcall why\` gives one for each node and DaemonSet. After a failed pod the next one waits ${BACKOFF_INITIAL_MS / 1000} s, doubling to ${BACKOFF_CAP_MS / 60_000} minutes.`,
    ),
    ...Object.entries(KINDS).flatMap(([kind, title]) => [
      `### ${title}`,
      bullets(
        rows
          .filter(([, reason]) => reason.kind === kind)
          .map(([code, { title: about, remedy }]) =>
            term(
              code,
              [about, remedy]
                .flatMap((text) => (text === undefined ? [] : [sentence(text)]))
                .join(' '),
            ),
          ),
      ),
    ]),
    wrapped('In JSON each node also has a placement:'),
    listOf(PLACEMENTS),
  ];
}

function listOf(words: Readonly<Record<string, string>>): string {
  return bullets(Object.entries(words).map(([code, about]) => term(code, about)));
}

function unionOf(file: string, type: string): string {
  return bullets(readUnion(file, type).map(({ code, about }) => term(code, about)));
}

/** Placements of `rollcall why --json`. */
const PLACEMENTS: Readonly<Record<Placement, string>> = {
  run: 'The node should have a pod.',
  keep: 'A pod that is there stays; none is created.',
  leave: 'Pods of the DaemonSet on this node go.',
};

/** What makes an answer untrue, the worst first. */
const OUTAGES: Readonly<Record<OutageCode, string>> = {
  stopped:
    '`rollcall stack stop` stopped the functions. It is reported until `resume`, or until a run shows that they work again.',
  frozen: 'The stack, the cluster, or the DaemonSet is frozen.',
  'watcher-silent': 'The watcher was not heard for 14 minutes. The answer is as of then.',
  'watcher-stands-by': 'Another installation holds the Lease of the watcher.',
  'functions-behind':
    '`resync` has not walked for five minutes, or a run of the DaemonSet or a step of the fleet was due and did not come.',
  'api-server-unreachable': 'The API server does not answer the functions, which go on asking.',
};

/** States of `rollcall status`, the worst first. */
const HEALTH: Readonly<Record<HealthState, string>> = {
  NoClusters: 'No cluster is registered.',
  Unreadable: 'A registration cannot be read, which counts as frozen.',
  Rebuilt: 'The watcher names another cluster UID. Run `rollcall cluster reset` if it was rebuilt.',
  Conflict: 'Another controller works on the DaemonSets, and Rollcall has stopped there.',
  Silent: 'The watcher is not heard.',
  StandsBy: 'Another installation holds the Lease of the watcher.',
  Behind: 'Runs, or steps of a fleet, are due and do not come.',
  NeverHeard: 'The watcher was never heard.',
  Unreachable: 'The API server does not answer the functions.',
  Halted: 'A rollout of a cluster or of a fleet halted.',
  Lacking: 'A DaemonSet lacks pods; one line covers all clusters.',
  StartingUp:
    'Nodes joined longer ago than the bound and have their start-up taint; the finding says what they wait for.',
  Stuck:
    'A rollout has no canary or a window that never opens, runs are refused again and again, or another writer changes the status.',
  Unknown: 'The object, the state or the record cannot be read.',
  Invalid: 'A rollout policy, or the document of a fleet, cannot be used.',
  RemovalHeld: 'A removal of many pods waits for a person.',
  AwaitsApproval: 'A rollout waits for an approval.',
  Paused: 'A rollout is paused.',
  Returned: 'All nodes are back at the last good release, and the rollout is held.',
  Returning: 'Nodes go back to the last good release.',
  Frozen: 'A cluster, a fleet, or a DaemonSet is frozen.',
  Incomplete: 'A view is not complete.',
  Unseen: 'No run has looked at the newest generation yet.',
};
