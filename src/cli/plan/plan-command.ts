/**
 * `rollcall plan`: what an edit of a DaemonSet or of nodes would do in one cluster, before it is made.
 *
 * Reads tables, asks no cluster, writes nothing. What a run would decide is decided by the code of runs (core/what-if/play.ts).
 */
import { planEdit } from '../../app/what-if/plan-edit.ts';
import type { PlannedEdit } from '../../app/what-if/plan-edit.ts';
import { readStanding } from '../../app/why/standing.ts';
import { formatKey } from '../../core/model/identifiers.ts';
import type { DaemonSetKey } from '../../core/model/identifiers.ts';
import type { ClusterMode } from '../../core/model/registration.ts';
import { timeText } from '../../core/rollout/gate-words.ts';
import { standstillOf } from '../../core/status/outages.ts';
import type { Outage } from '../../core/status/outages.ts';
import type { EditProblem } from '../../core/what-if/edit.ts';
import { countChanges } from '../../core/what-if/tell-plan.ts';
import type { NodeChange, PlannedNode, PlannedStep } from '../../core/what-if/tell-plan.ts';
import { parseClusterId, requireRegistration } from '../command-line/cluster-arguments.ts';
import { choiceOption, defineCommand } from '../command-line/command-module.ts';
import type { CommandModule, CommandResult } from '../command-line/command-module.ts';
import { outageLines } from '../command-line/freeze-words.ts';
import { code } from '../command-line/markdown.ts';
import { plainText } from '../command-line/text-table.ts';
import { CommandError, EXIT, failure } from '../process/exit-codes.ts';
import { findSourcesOf, sourcesOf } from '../rollout/rollout-sources.ts';
import type { Stack } from '../reach/stack.ts';
import { notesOf } from './plan-notes.ts';
import { EDIT_OPTIONS, readEdit } from './read-edit.ts';
import { renderEditComment, renderEditPlan } from './render-edit-plan.ts';

const FORMS = ['table', 'json', 'markdown'] as const;

/** The command. */
export const planCommand: CommandModule = defineCommand({
  path: ['plan'],
  documents: ['Plan'],
  summary: 'show what an edit would do to the nodes of one cluster, before it is made',
  about: [
    'It plays the edit forward by the code that runs plan with, on what the watcher sent.',
    'It names nodes that gain, lose or replace their pod, nodes that are held and why, and the steps of the rollout.',
    'It reads tables, asks the cluster nothing and changes nothing.',
    'A manifest is taken as kubectl apply takes it: what an earlier apply wrote and it leaves out goes, and what others wrote stays.',
    'Times are estimates, and the plan says what they rest on: each request is taken and no new pod fails.',
  ],
  exits: {
    ok: 'nothing would change',
    differs: 'something would change',
    refused: 'the edit would be refused, and the plan names the field',
    stopped: 'nothing acts there now: what would change is held',
    failed: 'nothing can be said of this cluster, or there is no such DaemonSet',
  },
  args: [['<cluster>', 'id of the cluster']],
  options: {
    ...EDIT_OPTIONS,
    output: choiceOption(
      '-o, --output <form>',
      'table (default), json, or markdown: a comment for a pull request, of bounded length',
      FORMS,
    ),
  },
  examples: [
    'plan prod-eu-1 -f daemonset.yaml',
    'plan prod-eu-1 --daemonset kube-system/agent --set-image agent=registry.example/agent:2',
    'plan prod-eu-1 --daemonset kube-system/agent --label worker-7=pool=gpu -o markdown',
  ],
  run: async ({ args: [text = ''], options }, context) => {
    const cluster = parseClusterId(text);
    const asked = readEdit(options);
    const isMarkdown = options.output === 'markdown';
    if (asked.kind === 'refused') {
      const { namespace = '', name = '' } = asked.key ?? {};
      return presentRefused({ cluster, namespace, name }, asked.problems, { isMarkdown });
    }
    const key = { cluster, ...asked.key };
    const stack = await context.openStack();
    const standing = await readStanding(stack);
    const sources = { ...findSourcesOf(stack), ...sourcesOf(stack), standing };
    const outcome = await planEdit(key, asked.edit, sources);
    switch (outcome.kind) {
      case 'refused':
        return presentRefused(key, outcome.problems, { isMarkdown });
      case 'planned':
        return present(key, outcome, { isMarkdown, leftOut: asked.leftOut });
      case 'untold':
        throw nothingToTell(key, outcome);
      case 'unknown-cluster':
      case 'unknown-daemon-set':
      case 'never-heard':
        throw await notThere(outcome.kind, key, stack);
    }
  },
});

interface PlanDocument {
  readonly cluster: string;
  readonly namespace: string;
  readonly name: string;
  readonly result: 'changes' | 'none' | 'refused';
  /** Each with its field; empty unless it is refused. */
  readonly refusals: readonly string[];
  readonly nodes: readonly PlannedNode[];
  readonly steps: readonly PlannedStep[];
  /** Sentences: who acts, what holds it, what times rest on. */
  readonly notes: readonly string[];
  /** The rest is absent of an edit that is refused. */
  readonly mode?: ClusterMode;
  /** What the edit is to the DaemonSet, or to nodes. */
  readonly edit?: PlannedEdit['edit'];
  readonly counts?: Readonly<Record<NodeChange, number>>;
  /** When everything rests, estimated; of `does-not-end`: how far it was followed. */
  readonly endAtMs?: number;
  readonly end?: PlannedEdit['played']['end'];
  readonly outages?: readonly Outage[];
  /** When the watcher sent what this is told of. */
  readonly lastSentAtMs?: number;
}

function documentOf(plan: PlanDocument): CommandResult['document'] {
  return { kind: 'Plan', ...plan };
}

function presentRefused(
  key: DaemonSetKey,
  problems: readonly EditProblem[],
  { isMarkdown }: { readonly isMarkdown: boolean },
): CommandResult {
  const refusals = problems.map(({ field, message }) =>
    plainText(field === '' ? message : `${field}: ${message}`),
  );
  const { cluster, namespace, name } = key;
  const title = name === '' ? cluster : formatKey(key);
  return {
    document: documentOf({
      ...{ cluster, namespace, name, result: 'refused', refusals },
      ...{ nodes: [], steps: [], notes: [] },
    }),
    lines: isMarkdown
      ? [`### ${code(title)}`, '', '**Refused:**', ...refusals.map((line) => `* ${code(line)}`)]
      : [plainText(`${title}: refused`), ...refusals.map((line) => `  ${line}`)],
    exitCode: EXIT.refused,
  };
}

function present(
  key: DaemonSetKey,
  plan: PlannedEdit,
  { isMarkdown, leftOut }: { readonly isMarkdown: boolean; readonly leftOut: readonly string[] },
): CommandResult {
  const { mode, edit, nodes, steps, outages, played, lastSentAtMs } = plan;
  const result = resultOf(plan);
  const others = leftOut.length === 0 ? [] : [`Not part of the plan: ${leftOut.join(', ')}.`];
  const notes = [...notesOf(plan, key), ...others].map(plainText);
  const title = plainText(formatKey(key));
  const told = `told at ${timeText(lastSentAtMs)}`;
  return {
    document: documentOf({
      ...key,
      ...{ result, refusals: [], nodes, steps, notes, mode, edit, counts: countChanges(nodes) },
      ...{ endAtMs: played.endMs, end: played.end, outages, lastSentAtMs },
    }),
    lines: isMarkdown
      ? [
          ...outageLines(outages).flatMap((line) => [line, '']),
          ...renderEditComment(title, plan, [...notes, `As ${told}.`]),
        ]
      : [
          ...outageLines(outages),
          `${title}: ${WORDS[edit]}; ${told}`,
          ...renderEditPlan(plan),
          ...(notes.length === 0 ? [] : ['', ...notes]),
        ],
    exitCode: exitCodeOf(plan, result),
  };
}

const WORDS: Readonly<Record<PlannedEdit['edit'], string>> = {
  create: 'it is new there',
  change: 'as it would be with the edit',
  delete: 'it would be deleted',
  nothing: 'the edit makes no difference',
};

function resultOf({ nodes, edit }: PlannedEdit): 'changes' | 'none' {
  const { gained, lost, restarted, held } = countChanges(nodes);
  const isHeldByEdit = held > 0 && edit !== 'nothing';
  return gained + lost + restarted > 0 || isHeldByEdit ? 'changes' : 'none';
}

function exitCodeOf({ outages, mode }: PlannedEdit, result: 'changes' | 'none'): number {
  if (standstillOf(outages, mode) !== undefined) return EXIT.stopped;
  return result === 'changes' ? EXIT.differs : EXIT.ok;
}

function nothingToTell(
  key: DaemonSetKey,
  {
    outages,
    message,
    remedy,
  }: { readonly outages: readonly Outage[] } & Record<'message' | 'remedy', string>,
): Error {
  const isStill = standstillOf(outages) !== undefined;
  return new CommandError({
    message: `Nothing can be planned for ${plainText(formatKey(key))} now: ${plainText(message)}.`,
    remedy,
    exitCode: isStill ? EXIT.stopped : EXIT.failed,
  });
}

async function notThere(
  kind: 'unknown-cluster' | 'unknown-daemon-set' | 'never-heard',
  { cluster, namespace, name }: DaemonSetKey,
  { registry }: Stack,
): Promise<Error> {
  await requireRegistration(registry, cluster);
  if (kind === 'never-heard') {
    return failure(
      `Nothing was heard of cluster ${cluster} yet.`,
      `Install its watcher: rollcall cluster show ${cluster}`,
    );
  }
  return failure(
    `There is no DaemonSet ${namespace}/${name} in ${cluster}.`,
    'A new one is planned from its manifest: -f. One that was just made is seen within seconds.',
  );
}
