/**
 * `rollcall cluster doctor`: checks every link between watcher, queue, functions and API server, and says
 * what to do.
 *
 * Changes nothing. Leaves with 0 only if no link has failed; what could not be checked is no failure.
 */
import { defined } from '@rollcall/base/defined.ts';
import { sideBySide } from '@rollcall/base/side-by-side.ts';
import { egressPolicy } from '../../../functions/egress-policy.ts';
import { orUnreadable } from '../../ports/stores/or-unreadable.ts';
import type { EgressPolicy } from '../../adapters/kubernetes/egress/egress.ts';
import { hasFailed, isProblem, type Finding } from '../../app/checks/finding.ts';
import type { FindingLevel } from '../../app/checks/finding-codes.ts';
import { known, openReader } from '../../app/checks/needs.ts';
import type { Patience, Read, RegistrationFact } from '../../app/checks/needs.ts';
import { checksOf, judgeAll, readFacts } from '../../app/checks/table.ts';
import { listEveryCluster } from '../../app/clusters/read-registry.ts';
import { outagesOfStack } from '../../app/why/standing.ts';
import type { ClusterId } from '../../core/model/identifiers.ts';
import { parseClusterId } from '../command-line/cluster-arguments.ts';
import { toned, type Line, type Tone } from '../command-line/colour.ts';
import { defineCommand, flagOption, textOption } from '../command-line/command-module.ts';
import type { CommandModule, OptionsOf } from '../command-line/command-module.ts';
import { outageLines } from '../command-line/freeze-words.ts';
import { plainText } from '../command-line/text-table.ts';
import { CommandError, EXIT, usageError } from '../process/exit-codes.ts';
import { requireProfile } from '../reach/aws-profiles.ts';
import type { Stack } from '../reach/stack.ts';
import { openClusterReaders } from './read-cluster.ts';
import { knownReaders, openStackWide, stackReaders, type StackWide } from './read-stack.ts';
import { kubeconfigWays, type OpenWay } from './ways-in.ts';

const OPTIONS = {
  all: flagOption(
    '--all',
    'all clusters of the stack: list findings that are not ok, count the rest',
  ),
  verbose: flagOption('--verbose', 'with --all: every link of every cluster'),
  kubeconfig: textOption(
    '--kubeconfig <file>',
    'look into the cluster with this credential of yours (default: KUBECONFIG, then ~/.kube/config, the context with its server)',
  ),
  context: textOption('--context <name>', 'which context of the kubeconfig'),
  clusterProfile: textOption(
    '--cluster-profile <name>',
    'AWS profile of the account where the cluster is',
  ),
};

const CLUSTERS_AT_ONCE = 8;

/** The command. */
export const doctorCommand: CommandModule = defineCommand({
  path: ['cluster', 'doctor'],
  documents: ['ClusterDoctor'],
  summary: 'check every link between a cluster and Rollcall, and say what to do',
  about: [
    'It changes nothing, and checks links side by side, each for 20 s at most.',
    'It reads the stack with your AWS credentials, and asks the registered endpoint for GET /version without a credential.',
    'With a kubeconfig it also reviews the rights of the watcher and of the functions, and looks at the watcher and the admission policies.',
    'Without --kubeconfig and --context it uses the context whose server is the registered one, and opens no other.',
    'docs/reference/findings.md lists the findings.',
  ],
  exits: { failed: 'a link has failed' },
  examples: [
    'cluster doctor prod-eu-1',
    'cluster doctor prod-eu-1 --context prod-eu-1 --cluster-profile prod',
    'cluster doctor --all --json',
  ],
  args: [['[id]', 'id of the cluster']],
  options: OPTIONS,
  run: async ({ args: [id], options }, context) => {
    requireOneTarget(id, options);
    const { clusterProfile } = options;
    if (clusterProfile !== undefined) requireProfile(clusterProfile, context.environment);
    const stack = await context.openStack();
    const ids = id === undefined ? await listEveryCluster(stack.registry) : [parseClusterId(id)];
    const egress = egressPolicy({ ...context.environment, ROLLCALL_STAGE: stack.stage });
    const openKubeconfig = await kubeconfigWays(options, context);
    const examination = openExamination(stack);
    const question = { stack, egress, openKubeconfig, ...examination };
    const examined = await sideBySide(ids, CLUSTERS_AT_ONCE, async (one) => {
      const findings = await examine(one, { ...question, ...defined({ clusterProfile }) });
      if (options.verbose === true) context.say(`examined ${one}`);
      return { id: one, findings };
    });
    const { wide } = examination;
    const [freeze, standing] = await Promise.all([wide.freeze(), wide.standing()]);
    const outages = outagesOfStack(standing, { freeze, nowMs: stack.clock.nowMs() });
    const failed = examined.filter(({ findings }) => hasFailed(findings)).length;
    const isWhole = options.all !== true || options.verbose === true;
    return {
      document: { kind: 'ClusterDoctor', clusters: examined, failed, outages },
      lines: [
        ...outageLines(outages),
        ...(isWhole
          ? examined.flatMap((one) => renderFindings(one.id, one.findings))
          : renderProblems(examined)),
        ...(ids.length === 0 ? ['No clusters are registered.'] : []),
        ...(ids.length > 1 ? [`${failed} of ${ids.length} clusters have a link that failed.`] : []),
      ],
      exitCode: failed === 0 ? EXIT.ok : EXIT.failed,
    };
  },
});

function requireOneTarget(id: string | undefined, options: OptionsOf<typeof OPTIONS>): void {
  if ((id === undefined) !== (options.all === true)) {
    throw usageError('Pass the id of a cluster, or --all.', 'rollcall cluster list shows the ids.');
  }
  if (options.all === true && (options.kubeconfig ?? options.context) !== undefined) {
    throw usageError(
      'A kubeconfig is for one cluster.',
      'Leave --all out, and pass the id of that cluster.',
    );
  }
}

/** Facts that all examined clusters share: each is read once. */
interface Examination {
  readonly wide: StackWide;
  readonly ofStack: Read;
  readonly patience: Patience;
}

export function openExamination(stack: Stack): Examination {
  const patience = { clock: stack.clock, reasonOf };
  const wide = openStackWide(stack);
  return { patience, ofStack: openReader(stackReaders(stack, wide), patience), wide };
}

interface Question extends Examination {
  readonly stack: Stack;
  readonly egress: EgressPolicy;
  readonly openKubeconfig: OpenWay;
  /** AWS profile of the account where the cluster is. */
  readonly clusterProfile?: string;
}

/** A read that fails or takes too long is reported with its reason, and hides nothing else. */
export async function examine(id: ClusterId, question: Question): Promise<readonly Finding[]> {
  const { stack, egress, clusterProfile: profile, wide, ofStack, patience } = question;
  const fact = await readRegistration(stack, id);
  const registration = known(fact);
  const checks = checksOf('stack', 'cluster');
  const nowMs = (): number => stack.clock.nowMs();
  if (fact.kind !== 'found') {
    const read = openReader({ registration }, undefined, ofStack);
    return judgeAll(checks, await readFacts(checksOf('stack'), read, nowMs));
  }
  const { view, clock } = stack;
  const kubeconfig = await question.openKubeconfig(fact.registration);
  const inside = await openClusterReaders(fact.registration, { view, clock, egress, kubeconfig });
  try {
    const ofAccount = knownReaders(fact.registration, stack, { wide, ...defined({ profile }) });
    const readers = { registration, ...ofAccount, ...inside.readers };
    const read = openReader(readers, patience, ofStack);
    return judgeAll(checks, await readFacts(checks, read, nowMs));
  } finally {
    inside.close();
  }
}

async function readRegistration({ registry }: Stack, id: ClusterId): Promise<RegistrationFact> {
  const read = await orUnreadable(() => registry.readCluster(id));
  if (read.kind === 'unreadable') return { kind: 'unreadable', message: read.problem };
  const { value: registration } = read;
  return registration === undefined ? { kind: 'missing' } : { kind: 'found', registration };
}

/** Names and codes only: a message may quote what it was about (S11). */
function reasonOf(error: unknown): string {
  if (error instanceof CommandError) return error.message;
  if (!(error instanceof Error)) return 'unknown failure';
  const { code } = error as { readonly code?: unknown };
  return typeof code === 'string' && code !== '' ? `${error.name} (${code})` : error.name;
}

const MARKS: Readonly<Record<FindingLevel, string>> = {
  ok: 'ok     ',
  warning: 'warning',
  failed: 'FAILED ',
  unknown: 'unknown',
};
const LINK_WIDTH = 17;

interface Examined {
  readonly id: string;
  readonly findings: readonly Finding[];
}

/** Lines about one cluster: one for each link, with what to do next. */
function renderFindings(id: string, findings: readonly Finding[]): readonly Line[] {
  const count = (level: FindingLevel): number =>
    findings.filter((finding) => finding.level === level).length;
  const summary = (['failed', 'warning', 'unknown', 'ok'] as const)
    .map((level) => `${count(level)} ${level}`)
    .join(', ');
  return [`Cluster ${id}`, ...findings.flatMap(linesOf), `  ${summary}`];
}

/** Lines about many clusters: what failed or should be known, and how many are without. */
export function renderProblems(examined: readonly Examined[]): readonly Line[] {
  const problems = examined
    .map(({ id, findings }) => ({ id, found: findings.filter(isProblem) }))
    .filter(({ found }) => found.length > 0);
  const quiet = examined.length - problems.length;
  return [
    ...problems.flatMap(({ id, found }) => [`Cluster ${id}`, ...found.flatMap(linesOf)]),
    ...(quiet === 0 ? [] : [`${quiet} ${quiet === 1 ? 'cluster' : 'clusters'}: nothing failed`]),
  ];
}

const TONES: Readonly<Partial<Record<FindingLevel, Tone>>> = {
  failed: 'failing',
  warning: 'waiting',
};

function linesOf(finding: Finding): readonly Line[] {
  const mark = toned(MARKS[finding.level], TONES[finding.level]);
  const rest = `  ${finding.link.padEnd(LINK_WIDTH)} ${plainText(finding.seen)}`;
  if (finding.level === 'ok') return [['  ', mark, rest]];
  return [
    ['  ', mark, `${rest} [${finding.code}]`],
    ...(finding.next === undefined ? [] : [`           → ${plainText(finding.next)}`]),
  ];
}
