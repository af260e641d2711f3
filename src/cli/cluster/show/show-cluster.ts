/**
 * `rollcall cluster show`: everything that is known of one cluster but secrets (S11), what is wrong, and
 * what to do next.
 *
 * Reads the registry and the view; asks the cluster nothing. `rollcall cluster doctor` does.
 */
import { defined } from '@rollcall/base/defined.ts';
import { compareText } from '@rollcall/base/compare-text.ts';
import { readRefusals, readToken } from '../../checks/read-stack.ts';
import { known, openReader, type Checked, type TokenFact } from '../../../app/checks/needs.ts';
import { isProblem, type Finding } from '../../../app/checks/finding.ts';
import { checksOf, readFacts, judgeAll } from '../../../app/checks/table.ts';
import type { ClusterRegistration } from '../../../core/model/registration.ts';
import type { Stack } from '../../reach/stack.ts';
import type { ClusterMeta } from '../../../core/model/view-items.ts';
import {
  describeAuthentication,
  frozenText,
  startUpText,
} from '../../../app/clusters/edit-registration.ts';
import {
  CLUSTER_ARGUMENT,
  parseClusterId,
  requireRegistration,
} from '../../command-line/cluster-arguments.ts';
import { findMissedRuns, outagesOfCluster, readStanding } from '../../../app/why/standing.ts';
import type { Outage } from '../../../core/status/outages.ts';
import { outageLines, readFreezeIn } from '../../command-line/freeze-words.ts';
import { defineCommand } from '../../command-line/command-module.ts';
import type { CommandModule, CommandResult } from '../../command-line/command-module.ts';
import { renderAge, renderFields } from '../../command-line/text-table.ts';

/** Everything that is read of one cluster; of a sealed token only the times. */
interface ClusterDetails {
  readonly registration: ClusterRegistration;
  /** Undefined: nothing was ever heard of the cluster. */
  readonly meta: ClusterMeta | undefined;
  readonly token: Checked<TokenFact>;
  /** Not counted to the end if there are very many. */
  readonly daemonSets: { readonly count: number; readonly isCounted: boolean };
  readonly nowMs: number;
}

/** The command. */
export const showClusterCommand: CommandModule = defineCommand({
  path: ['cluster', 'show'],
  documents: ['ClusterDetails'],
  summary: 'show what Rollcall knows of a cluster, what is wrong, and what to do',
  about: ['It asks the cluster nothing (rollcall cluster doctor does), and prints no secret.'],
  examples: ['cluster show prod-eu-1'],
  args: [CLUSTER_ARGUMENT],
  run: async ({ args }, context) => {
    const stack = await context.openStack();
    const registration = await requireRegistration(stack.registry, parseClusterId(args[0] ?? ''));
    const nowMs = stack.clock.nowMs();
    const [meta, token, daemonSets, freeze, standing, missed] = await Promise.all([
      stack.view.readMeta(registration.clusterUid),
      readToken(stack, registration),
      countDaemonSets(registration, stack),
      readFreezeIn(stack),
      readStanding(stack),
      findMissedRuns(registration, stack, nowMs),
    ]);
    const since = missed.map(({ sinceMs }) => sinceMs);
    const question = { meta, nowMs, standing, freeze, missed: since };
    const details = { registration, meta, token, daemonSets, nowMs };
    const outages = outagesOfCluster(registration, question);
    // Facts that only the cluster or an account knows are left to the doctor.
    const read = openReader({
      registration: known({ kind: 'found', registration } as const),
      meta: known(meta),
      token: ['', () => Promise.resolve(token)],
      refusals: ['', () => readRefusals(stack, registration)],
    });
    const checks = checksOf('cluster');
    const findings = judgeAll(checks, await readFacts(checks, read, () => nowMs));
    return present(details, findings.filter(isProblem), outages);
  },
});

const NAMES_PER_PAGE = 500;
const PAGES_MAX = 20;

async function countDaemonSets(
  { clusterUid }: ClusterRegistration,
  { view }: Stack,
): Promise<ClusterDetails['daemonSets']> {
  let count = 0;
  let cursor: string | undefined;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const from = { limit: NAMES_PER_PAGE, ...defined({ cursor }) };
    const listed = await view.listNames(clusterUid, from);
    count += listed.names.length;
    ({ cursor } = listed);
    if (cursor === undefined) return { count, isCounted: true };
  }
  return { count, isCounted: false };
}

function tokenOf({ token, registration }: ClusterDetails) {
  if (token.kind === 'unchecked' || token.value.kind === 'missing') return undefined;
  const { issuedAtMs, expiresAtMs, clusterUid } = token.value;
  return { issuedAtMs, expiresAtMs, isOfThisCluster: clusterUid === registration.clusterUid };
}

/** Findings that stand above the answer already. */
const TOLD_ABOVE: ReadonlySet<string> = new Set<Finding['code']>([
  ...(['frozen', 'cluster-silent', 'watcher-stands-by', 'breaker-open'] as const),
]);

function present(
  details: ClusterDetails,
  findings: readonly Finding[],
  outages: readonly Outage[],
): CommandResult {
  const { registration, meta } = details;
  const below = findings.filter(({ code }) => !TOLD_ABOVE.has(code));
  const { authentication: _secret, caPem, ...shown } = registration;
  return {
    document: {
      kind: 'ClusterDetails',
      cluster: {
        ...shown,
        hasOwnCa: caPem !== undefined,
        authentication: publicAuthentication(details),
      },
      ...defined({
        token: tokenOf(details),
        view: meta === undefined ? undefined : publicView(meta),
      }),
      daemonSets: details.daemonSets,
      outages,
      findings,
    },
    lines: [
      ...outageLines(outages),
      ...renderFields([...registrationFields(details, outages), ...viewFields(details)]),
      '',
      ...(findings.length + outages.length === 0
        ? ['Nothing is wrong as far as the registry and view tell.']
        : []),
      ...below.flatMap(({ code, seen, next = '' }) => [`! ${code}: ${seen}`, `  ${next}`]),
    ],
  };
}

/** Of a credential its kind and what is no secret. */
function publicAuthentication({ registration }: ClusterDetails): Readonly<Record<string, string>> {
  const { authentication } = registration;
  return authentication.kind === 'eks' || authentication.kind === 'bound-token'
    ? { ...authentication }
    : { kind: authentication.kind };
}

function publicView(meta: ClusterMeta) {
  const { era, epoch, incarnation, seq, isComplete, incompleteReason, isCutOpen, broken } = meta;
  const { sliceCount, lastSentAtMs, heardAtMs, announcedAtMs, snapshotRequestedAtMs } = meta;
  return {
    position: { era, epoch, incarnation, seq },
    isComplete,
    ...(incompleteReason === undefined || isComplete ? {} : { incompleteReason }),
    isCutOpen,
    losses: broken,
    sliceCount,
    lastSentAtMs,
    heardAtMs,
    ...defined({ announcedAtMs, snapshotRequestedAtMs, breaker: meta.breaker }),
  };
}

type Field = readonly [string, string | undefined];

function registrationFields(details: ClusterDetails, outages: readonly Outage[]): readonly Field[] {
  const { registration, nowMs } = details;
  const token = tokenOf(details);
  const isStackFrozen = !registration.isFrozen && outages.some(({ code }) => code === 'frozen');
  const { labels, egress, rival, sentinel, takeoverProbedAtMs: enteredAtMs } = registration;
  const labelTexts = Object.entries(labels)
    .toSorted(([left], [right]) => compareText(left, right))
    .map(([key, value]) => `${key}=${value}`);
  return [
    ['id', registration.id],
    ['cluster uid', registration.clusterUid],
    ['mode', registration.mode],
    ['frozen', isStackFrozen ? 'yes (stack)' : frozenText(registration)],
    ['labels', labelTexts.join(', ') || '-'],
    ['endpoint', registration.server],
    ['certificate authority', registration.caPem === undefined ? 'of the system' : 'its own'],
    ['may be reached at', ['public addresses', ...(egress?.privateRanges ?? [])].join(', ')],
    ['watcher’s role id', registration.senderRoleId],
    ['authentication', describeAuthentication(registration.authentication)],
    ['token', token && tokenText(token.expiresAtMs - nowMs, nowMs - token.issuedAtMs)],
    ['start-up taint', registration.startUp && startUpText(registration.startUp)],
    ['takeover entered', enteredAtMs === undefined ? undefined : isoTime(enteredAtMs)],
    ['sentinel', sentinel?.uid],
    ['conflict', rival && `${isoTime(rival.seenAtMs)}: ${rival.evidence}`],
    ['configuration version', String(registration.configVersion)],
  ];
}

function tokenText(leftMs: number, ageMs: number): string {
  const end = leftMs <= 0 ? `expired ${renderAge(-leftMs)} ago` : `ends in ${renderAge(leftMs)}`;
  return `renewed ${renderAge(ageMs)} ago, ${end}`;
}

function viewFields({ meta, daemonSets, nowMs }: ClusterDetails): readonly Field[] {
  if (meta === undefined) return [['view', 'nothing was ever heard of this cluster']];
  const heard = Object.entries(meta.heardAtMs)
    .map(([kind, atMs]) => `${kind} ${renderAge(nowMs - atMs)}`)
    .join(', ');
  const count = daemonSets.isCounted ? String(daemonSets.count) : `${String(daemonSets.count)}+`;
  return [
    ['view', meta.isComplete ? 'complete' : `incomplete: ${meta.incompleteReason ?? 'waiting'}`],
    ['last message', `${renderAge(nowMs - meta.lastSentAtMs)} ago`],
    ['streams heard, ago', heard || '-'],
    ['position', `era ${String(meta.era)}, epoch ${meta.epoch}, seq ${String(meta.seq)}`],
    ['losses so far', String(meta.broken)],
    ['node slices', String(meta.sliceCount)],
    ['DaemonSets', count],
    ['breaker', breakerText(meta, nowMs)],
  ];
}

function breakerText({ breaker }: ClusterMeta, nowMs: number): string {
  if (breaker?.open === undefined) return 'closed';
  return `open for ${renderAge(breaker.open.untilMs - nowMs)} more`;
}

function isoTime(atMs: number): string {
  return new Date(atMs).toISOString();
}
