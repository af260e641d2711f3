/**
 * `rollcall why`: why there is a pod of a DaemonSet on each node, or none, by the plan that a run of now would make.
 *
 * Reads tables, asks no cluster, decides nothing (app/why). What needs no words (`Running`, `NotWanted`) is only counted,
 * unless the node is asked for by its name.
 */
import { explainRollout } from '../../app/why/explain.ts';
import { outagesOfBasis, readStanding } from '../../app/why/standing.ts';
import { describeOpaque } from '../../app/rollout/rollout-status.ts';
import type { StoredInputs } from '../../app/reconcile/read/stored-inputs.ts';
import { formatKey } from '../../core/model/identifiers.ts';
import type { DaemonSetKey } from '../../core/model/identifiers.ts';
import { standstillOf } from '../../core/status/outages.ts';
import type { Outage } from '../../core/status/outages.ts';
import { countCodes, isQuiet } from '../../core/status/verdicts.ts';
import type { NodeCode, Verdict } from '../../core/model/verdict.ts';
import { timeText } from '../../core/rollout/gate-words.ts';
import { outageLines } from '../command-line/freeze-words.ts';
import { defineCommand, textOption } from '../command-line/command-module.ts';
import type { CommandModule } from '../command-line/command-module.ts';
import { plainText, renderTextTable } from '../command-line/text-table.ts';
import { errorOf } from '../command-line/refusal-error.ts';
import { CommandError, EXIT, failure } from '../process/exit-codes.ts';
import { findInStack, parseKey, sourcesOf } from '../rollout/rollout-sources.ts';

/** The command. */
export const whyCommand: CommandModule = defineCommand({
  path: ['why'],
  summary: 'why there is a pod of a DaemonSet on each node, or none',
  args: [
    ['<cluster>', 'id of the cluster'],
    ['<daemonset>', 'namespace/name of the DaemonSet'],
  ],
  options: { node: textOption('--node <name>', 'of this node alone') },
  run: async ({ args, options }, context) => {
    const key = parseKey(args);
    const stack = await context.openStack();
    const found = await findInStack(key, stack);
    if (found.kind === 'refused') throw errorOf(found);
    const { stored } = found;
    const sources = sourcesOf(stack);
    const standing = await readStanding(stack);
    const outages = outagesOfBasis(stored, { standing, nowMs: sources.nowMs });
    const standstill = standstillOf(outages, stored.registration.mode);
    const explained = await explainRollout(stored, { ...sources, outages });
    if (explained === undefined) throw nothingToTell(formatKey(key), stored, standstill);
    const all = explained.plan.verdicts();
    const { node } = options;
    const verdicts = node === undefined ? all : all.filter((each) => each.node === node);
    if (node !== undefined && verdicts.length === 0) throw noSuchNode(node, key);
    const { lastSentAtMs } = stored.meta;
    const counts = countCodes(verdicts);
    return {
      document: {
        kind: 'Explanation',
        ...key,
        mode: stored.registration.mode,
        lastSentAtMs,
        outages,
        counts,
        nodes: verdicts.map(documentOf),
      },
      lines: [
        ...outageLines(outages),
        `${plainText(formatKey(key))}: ${countsText(counts)}; told at ${timeText(lastSentAtMs)}`,
        ...linesOf(verdicts, node !== undefined),
      ],
      exitCode: standstill === undefined ? EXIT.ok : EXIT.stopped,
    };
  },
});

function documentOf({ node, placement, reason, code, pod, message, untilMs }: Verdict): object {
  return { node, placement, reason, code, pod, message, untilMs };
}

function linesOf(verdicts: readonly Verdict[], isAskedFor: boolean): readonly string[] {
  const shown = verdicts.filter(({ code }) => isAskedFor || !isQuiet(code));
  if (shown.length === 0) return [];
  const groups = Map.groupBy(shown, (verdict) => `${verdict.code} ${matterOf(verdict)}`);
  return renderTextTable(['NODE', 'CODE', 'WHY'], [...groups.values()].map(rowOf));
}

function rowOf(group: readonly Verdict[]): readonly string[] {
  const [first, ...others] = group;
  if (first === undefined) return [];
  if (others.length === 0) return [first.node, first.code, first.message];
  const names = group.slice(0, NAMED_MAX).map(({ node }) => node);
  const more = group.length > names.length ? ', …' : '';
  const nodes = `${String(group.length)} nodes: ${names.join(', ')}${more}`;
  return [nodes, first.code, matterOf(first)];
}

/** Of nodes with the same matter in a table; --json and --node have all. */
const NAMED_MAX = 3;

/** The message without the node that it begins with. */
function matterOf({ node, message }: Verdict): string {
  const subject = `Node ${node} `;
  return message.startsWith(subject) ? message.slice(subject.length) : message;
}

function countsText(counts: Partial<Record<NodeCode, number>>): string {
  const parts = Object.entries(counts).map(([code, count]) => `${String(count)} ${code}`);
  return parts.length === 0 ? 'no nodes' : parts.join(', ');
}

function nothingToTell(
  name: string,
  { daemonSet, state }: StoredInputs,
  standstill: Outage | undefined,
): CommandError {
  if (standstill !== undefined) {
    const message = `Nothing can be told of the nodes of ${plainText(name)} now: ${plainText(standstill.message)}.`;
    return new CommandError({ message, remedy: standstill.remedy, exitCode: EXIT.stopped });
  }
  const isOpaque = daemonSet.object === null;
  const why = isOpaque
    ? `${describeOpaque(daemonSet)}. Runs read it from the API server, which this command does not ask.`
    : state === undefined
      ? 'no run has looked at it yet.'
      : 'the view of its cluster is not whole, or only a live read could tell.';
  return new CommandError({
    message: `Nothing can be told of the nodes of ${plainText(name)} now: ${why}`,
    remedy: isOpaque
      ? 'rollcall rollout status tells how it stands, kubectl describe what its pods say.'
      : 'See rollcall cluster show, and ask again.',
    exitCode: EXIT.failed,
  });
}

function noSuchNode(node: string, key: DaemonSetKey): CommandError {
  const { cluster, namespace, name } = key;
  return failure(
    `The view of ${cluster} has no node ${plainText(node)}.`,
    `Its nodes by name: kubectl get nodes, or rollcall why ${cluster} ${namespace}/${name} --json.`,
  );
}
