/**
 * `rollcall why`: why nodes have no pod of a DaemonSet that serves, by the plan that a run of now would make.
 *
 * Reads tables, asks no cluster, decides nothing. Clusters are asked some at a time, and of each only what is told is kept.
 */
import { sideBySide } from '@rollcall/base/side-by-side.ts';
import { namePages, listEveryCluster } from '../../app/clusters/read-registry.ts';
import { createProcessCache } from '../../app/reconcile/process/process-cache.ts';
import { readStanding } from '../../app/why/standing.ts';
import { formatKey, type ClusterId } from '../../core/model/identifiers.ts';
import { hasSentinelName } from '../../core/may-act/takeover-sentinel.ts';
import type { NamespacedName } from '../../ports/stores/view-store.ts';
import {
  parseClusterId,
  parseNamespacedName,
  requireRegistration,
} from '../command-line/cluster-arguments.ts';
import { defineCommand, flagOption, textOption } from '../command-line/command-module.ts';
import type { CommandModule } from '../command-line/command-module.ts';
import { plainText } from '../command-line/text-table.ts';
import { CommandError, EXIT, failure, usageError } from '../process/exit-codes.ts';
import type { Stack } from '../reach/stack.ts';
import {
  askCluster,
  standsStill,
  type Answer,
  type Question,
  type Untold,
  type Told,
} from './answers.ts';
import type { Verdict } from '../../core/model/verdict.ts';
import { timeText } from '../../core/rollout/gate-words.ts';
import type { ReasonGroup } from '../../core/status/reason-groups.ts';
import { toned, type Line } from '../command-line/colour.ts';
import { outageLines } from '../command-line/freeze-words.ts';
import { budgetText } from '../rollout/render-status.ts';

/** Clusters, or DaemonSets of one, that are asked at once: each holds its view meanwhile. */
const ASKED_AT_ONCE = 4;
/** Names on a page of a cluster's DaemonSets. */
const PAGE = 200;

/** The command. */
export const whyCommand: CommandModule = defineCommand({
  path: ['why'],
  documents: ['Explanation'],
  summary: 'say why nodes have no serving pod of a DaemonSet, and what to do',
  about: [
    'For each cluster it counts nodes by reason, names them, and says what to do; docs/reference/codes.md lists the reasons.',
    'It makes the plan that a run would make now of what the watcher sent, and asks the clusters nothing.',
    'It also says which nodes use the budget of a rollout, and which fleet holds the rollout.',
  ],
  exits: {
    failed: 'nothing can be said of one cluster, or there is no such DaemonSet or node',
    stopped: 'nothing acts in one of the clusters',
  },
  args: [['[daemonset]', 'namespace/name of the DaemonSet; with --cluster and --node: all of it']],
  options: {
    cluster: textOption('--cluster <id>', 'in this cluster alone'),
    node: textOption('--node <name>', 'of this node alone, whatever its code'),
    all: flagOption('--all', 'nodes with a serving pod, too'),
  },
  examples: ['why kube-system/log-collector', 'why --cluster prod-eu-1 --node worker-7'],
  run: async ({ args: [text], options }, context) => {
    const cluster = options.cluster === undefined ? undefined : parseClusterId(options.cluster);
    const subject = text === undefined ? undefined : parseNamespacedName(text, 'DaemonSet');
    requireSubject(subject, { cluster, node: options.node });
    const stack = await context.openStack();
    if (cluster !== undefined) await requireKnown(cluster, stack);
    const { node } = options;
    const asked = options.all === true ? 'all' : 'lacking';
    const question = { stack, standing: await readStanding(stack), asked, ...named(node) } as const;
    const answers =
      subject === undefined
        ? await askNode(cluster, question)
        : await askClusters(subject, cluster, question);
    if (answers.length === 0) throw nothingFound(text, { cluster, node });
    const [first] = answers;
    if (first?.kind === 'untold' && answers.every(({ kind }) => kind === 'untold')) {
      throw nothingToTell(first, exitCodeOf(answers));
    }
    const kind = 'Explanation';
    return {
      document: { kind, answers: answers.map(documentOf) },
      lines: linesOf(answers),
      exitCode: exitCodeOf(answers),
    };
  },
});

interface Where {
  readonly cluster: ClusterId | undefined;
  readonly node: string | undefined;
}

function named(node: string | undefined): Pick<Question, 'node'> {
  return node === undefined ? {} : { node };
}

function requireSubject(subject: NamespacedName | undefined, { cluster, node }: Where): void {
  if (subject !== undefined || (cluster !== undefined && node !== undefined)) return;
  throw usageError(
    'It is not said what is asked for.',
    'Pass namespace/name of a DaemonSet, or --cluster and --node for every DaemonSet of a node.',
  );
}

/** A registration that cannot be read is told of by the answer. */
async function requireKnown(cluster: ClusterId, { registry }: Stack): Promise<void> {
  const ids = await listEveryCluster(registry);
  if (!ids.includes(cluster)) await requireRegistration(registry, cluster);
}

async function askClusters(
  subject: NamespacedName,
  cluster: ClusterId | undefined,
  question: Question,
): Promise<readonly Answer[]> {
  const { registry } = question.stack;
  const clusters = cluster === undefined ? await listEveryCluster(registry) : [cluster];
  const answers = await sideBySide(clusters, ASKED_AT_ONCE, (each) =>
    askCluster({ cluster: each, ...subject }, question),
  );
  return answers.filter((answer) => answer !== undefined);
}

/** Every DaemonSet of a cluster, as far as it concerns a node; they share the nodes. */
async function askNode(
  cluster: ClusterId | undefined,
  question: Question,
): Promise<readonly Answer[]> {
  const { registry, view } = question.stack;
  if (cluster === undefined) return [];
  const { clusterUid } = await requireRegistration(registry, cluster);
  const cache = createProcessCache();
  const answers: Answer[] = [];
  for await (const page of namePages(view, clusterUid, { limit: PAGE })) {
    const names = page.filter((item) => item.uid !== null && !hasSentinelName(item));
    const found = await sideBySide(names, ASKED_AT_ONCE, ({ namespace, name }) =>
      askCluster({ cluster, namespace, name }, question, cache),
    );
    answers.push(...found.filter((answer) => answer !== undefined));
  }
  return answers;
}

function nothingToTell({ key, message, remedy }: Untold, exitCode: number): Error {
  const name = plainText(formatKey(key));
  return new CommandError({
    message: `The nodes of ${name} cannot be judged now: ${plainText(message)}.`,
    remedy,
    exitCode,
  });
}

function exitCodeOf(answers: readonly Answer[]): number {
  if (answers.some(standsStill)) return EXIT.stopped;
  return answers.some(({ kind }) => kind === 'untold') ? EXIT.failed : EXIT.ok;
}

function nothingFound(text: string | undefined, { cluster, node }: Where): Error {
  const where = cluster ?? 'any cluster';
  if (node !== undefined) {
    const of = text === undefined ? '' : `, or no DaemonSet ${plainText(text)}`;
    const again = text === undefined ? '' : `, or rollcall why ${plainText(text)} --all --json`;
    return failure(
      `The view of ${where} has no node ${plainText(node)}${of}.`,
      `Its nodes by name: kubectl get nodes${again}.`,
    );
  }
  return failure(
    `There is no DaemonSet ${plainText(text ?? '')} in ${where}.`,
    'A new one is seen within seconds of its create; rollcall cluster list shows which clusters are heard.',
  );
}

/** Names on one line; --json has all. */
const NAMED_MAX = 12;

const TONES = { failing: 'failing', held: 'waiting' } as const;

/** Lines of several answers; an outage that is of all stands above the first alone. */
function linesOf(answers: readonly Answer[]): readonly Line[] {
  const said = new Set<string>();
  return answers.flatMap((answer) => {
    const outages = answer.outages.filter(({ message }) => !said.has(message));
    for (const { message } of outages) said.add(message);
    return [...outageLines(outages), ...linesOfAnswer(answer)];
  });
}

function linesOfAnswer(answer: Answer): readonly Line[] {
  const name = plainText(formatKey(answer.key));
  if (answer.kind === 'untold') {
    const untold = `its nodes cannot be judged: ${plainText(answer.message)}`;
    return [[`${name}: `, toned(untold, 'failing')], `  do: ${plainText(answer.remedy)}`];
  }
  const { counts, lastSentAtMs, groups } = answer;
  return [
    `${name}: ${countsText(counts)}; told at ${timeText(lastSentAtMs)}`,
    ...groups.flatMap(linesOfGroup),
    ...linesBeside(answer),
  ];
}

function linesOfGroup({ kind, code, message, nodes, remedy }: ReasonGroup): readonly Line[] {
  const more = nodes.length > NAMED_MAX ? ` and ${String(nodes.length - NAMED_MAX)} more` : '';
  const names = plainText(nodes.slice(0, NAMED_MAX).join(', '));
  const tone = kind === 'failing' || kind === 'held' ? TONES[kind] : undefined;
  return [
    [
      `  ${String(nodes.length)} `,
      toned(kind.replaceAll('-', ' '), tone),
      `: ${names}${more} (${code}: ${plainText(message)})`,
    ],
    ...(remedy === undefined ? [] : [`    do: ${plainText(remedy)}`]),
  ];
}

/** Others that decide about the next change. */
function linesBeside({ budget, fleet, counts }: Told): readonly string[] {
  const isWaiting = (counts.WaitingForRollout ?? 0) > 0;
  const isBound = budget !== undefined && (isWaiting || budget.users.length > 0);
  const stage = fleet?.stage === undefined ? '' : `, stage ${fleet.stage.name}`;
  return [
    ...(isBound ? [`  budget: ${plainText(budgetText(budget))}`] : []),
    ...(fleet === undefined
      ? []
      : [
          `  held by fleet ${plainText(`${fleet.name}${stage}: ${fleet.gateText}`)}`,
          `    do: ${plainText(fleet.command)}`,
        ]),
  ];
}

function countsText(counts: Told['counts']): string {
  const parts = Object.entries(counts).map(([code, count]) => `${String(count)} ${code}`);
  return parts.length === 0 ? 'no nodes' : parts.join(', ');
}

function documentOf(answer: Answer) {
  const { key, kind, outages } = answer;
  if (kind === 'untold') {
    const { message, remedy } = answer;
    return { ...key, outages, message, remedy };
  }
  const { mode, lastSentAtMs, counts, groups, nodes, budget, fleet } = answer;
  const told = nodes.map(nodeOf);
  return { ...key, mode, lastSentAtMs, outages, counts, groups, nodes: told, budget, fleet };
}

function nodeOf({ node, placement, reason, code, guard, pod, message, untilMs }: Verdict) {
  return { node, placement, reason, code, guard, pod, message, untilMs };
}
