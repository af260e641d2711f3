/**
 * `rollcall status`: is everything well? What is not, over the whole fleet, the gravest first, and in one line what is.
 *
 * Reads tables, asks no cluster, changes nothing. What is well is decided in core/status/health/fleet-health.ts.
 */
import type {
  FleetHealth,
  HealthFinding,
  Severity,
} from '../../core/status/health/health-facts.ts';
import { timeText } from '../../core/rollout/gate-words.ts';
import { uncoloured, toned, type Line, type Tone } from '../command-line/colour.ts';
import { defineCommand, flagOption } from '../command-line/command-module.ts';
import type {
  CommandContext,
  CommandModule,
  CommandResult,
} from '../command-line/command-module.ts';
import { linesIn, OUTPUT_OPTION } from '../command-line/output-form.ts';
import { throwIfInterrupted } from '../command-line/run-program.ts';
import { EXIT, failure, usageError } from '../process/exit-codes.ts';
import { FILTER_OPTIONS, filterOf, lookAtSome } from './look-at-fleet.ts';
import { describeWell } from '../../core/status/health/fleet-health.ts';
import { groupDigits } from '../../core/status/health/health-words.ts';
import { outageLines } from '../command-line/freeze-words.ts';
import { plainText } from '../command-line/text-table.ts';

/** Between two looks: each reads two items of every DaemonSet. */
const LOOK_EVERY_MS = 10_000;

const EXITS: Readonly<Record<FleetHealth['standing'], number>> = {
  well: EXIT.ok,
  'not-well': EXIT.notWell,
  stopped: EXIT.stopped,
};

/** The command. */
export const statusCommand: CommandModule = defineCommand({
  path: ['status'],
  documents: ['FleetHealth'],
  summary: 'say whether everything is well, and what is not: the worst first, with what to do',
  about: [
    'It reads tables, asks no cluster, and changes nothing.',
    'It counts available pods as the watcher last reported them.',
    'Where reports are out of date (functions stopped, watcher silent, API server unreachable), nothing counts as well.',
    'For the twenty DaemonSets that lack most pods it also says why; rollcall why tells it of the others.',
  ],
  exits: {
    notWell: 'something is not well, or no cluster is registered',
    stopped: 'nothing acts: the stack is stopped or behind, or no watcher is heard',
  },
  options: {
    ...FILTER_OPTIONS,
    output: OUTPUT_OPTION,
    watch: flagOption(
      '--watch',
      'look every ten seconds, and say it again when it changes; ends by Ctrl-C',
    ),
  },
  examples: ['status', 'status --label stage=prod -o wide', 'status --watch'],
  run: async ({ options }, context) => {
    const { output, watch } = options;
    const filter = filterOf(options);
    if (
      watch === true &&
      (output === 'json' || output === 'yaml' || context.globals.json === true)
    ) {
      throw usageError('--watch tells people what changes.', 'Leave it out for one document.');
    }
    const stack = await context.openStack();
    const look = async (): Promise<FleetHealth> => (await lookAtSome(filter, stack)).health;
    const linesOf = (health: FleetHealth): readonly Line[] =>
      linesIn(output, {
        document: healthDocument(health),
        table: (isWide) => renderHealth(health, isWide),
        names: namesOf(health),
      });
    if (watch === true) await watchHealth(async () => linesOf(await look()), context);
    const health = await look();
    refuseEmptyNamespace(filter.namespace, health);
    return {
      document: healthDocument(health),
      lines: linesOf(health),
      exitCode: EXITS[health.standing],
    };
  },
});

/** Throws CommandError (1): of a namespace without anything, misspelt perhaps, nothing is told as well. */
function refuseEmptyNamespace(namespace: string | undefined, health: FleetHealth): void {
  const { daemonSets, fleets, findings, outages } = health;
  const isEmpty = daemonSets.total + fleets.total + findings.length + outages.length === 0;
  if (namespace === undefined || !isEmpty) return;
  throw failure(
    `No cluster has a DaemonSet in the namespace ${namespace}, and no FleetDaemonSet is in it.`,
    'List them with: rollcall get daemonsets',
  );
}

/** The document. */
export function healthDocument(health: FleetHealth): CommandResult['document'] {
  return { kind: 'FleetHealth', ...health };
}

/** Until Ctrl-C. Rejects as a look does. */
async function watchHealth(
  look: () => Promise<readonly Line[]>,
  { clock, signal, say }: CommandContext,
): Promise<void> {
  let told: string | undefined;
  while (!signal.aborted) {
    const lines = (await look()).map(uncoloured);
    const text = lines.join('\n');
    if (text !== told) [`${timeText(clock.nowMs())}`, ...lines].forEach((line) => say(line));
    told = text;
    await clock.sleep(LOOK_EVERY_MS, signal);
  }
  throwIfInterrupted(signal);
}

/** Of one state, before the others are only counted. */
const SHOWN_MAX = 5;

/** The lines. `isWide`: every finding, every cluster of each, and every next step. */
function renderHealth(health: FleetHealth, isWide: boolean): readonly Line[] {
  const { outages, findings } = health;
  const width = Math.max(0, ...findings.map(({ state }) => state.length));
  const groups = Map.groupBy(findings, ({ severity, state }) => `${severity} ${state}`);
  const told = [...groups.values()].flatMap((group) => {
    const shown = isWide ? group : group.slice(0, SHOWN_MAX);
    const more = group.length - shown.length;
    const [{ state } = { state: '' }] = group;
    const rest = `${state.padEnd(width)}  and ${groupDigits(more)} more: -o wide shows them`;
    return [
      ...shown.flatMap((finding) => linesOf(finding, width, isWide)),
      ...(more > 0 ? [rest] : []),
    ];
  });
  return [...outageLines(outages), ...told, describeWell(health)];
}

function linesOf(finding: HealthFinding, width: number, isWide: boolean): readonly Line[] {
  const { state, severity, name, clusters, message, remedy, next = [] } = finding;
  const subject = name === '' ? '' : `${name}: `;
  const indent = ' '.repeat(width + 2);
  const isCut = isWide && finding.subject === 'daemonset' && clusters.length > 1;
  return [
    [toned(state.padEnd(width), toneOf(severity)), plainText(`  ${subject}${message}`)],
    ...(isCut ? [plainText(`${indent}in: ${clusters.join(', ')}`)] : []),
    plainText(`${indent}next: ${remedy}`),
    ...(isWide ? next.slice(1) : []).map(({ command, about }) =>
      plainText(`${indent}  or: ${command}  # ${about}`),
    ),
  ];
}

function toneOf(severity: Severity): Tone | undefined {
  return severity === 'coming' ? undefined : severity;
}

/** `cluster/a`, `daemonset/kube-system/cni`: whom findings are about, each once. */
function namesOf({ findings }: FleetHealth): readonly string[] {
  const named = findings.filter(({ subject }) => subject !== 'stack');
  return [
    ...new Set(
      named.map(({ subject, name, clusters: [cluster] }) =>
        subject === 'rollout' ? `rollout/${cluster ?? ''}/${name}` : `${subject}/${name}`,
      ),
    ),
  ];
}
