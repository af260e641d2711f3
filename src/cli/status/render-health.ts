/** What is not well, the gravest first, each with what to do; then one line of what is. */
import { describeWell } from '../../core/status/health/fleet-health.ts';
import type {
  FleetHealth,
  HealthFinding,
  Severity,
} from '../../core/status/health/health-facts.ts';
import { groupDigits } from '../../core/status/health/health-words.ts';
import { toned, type Line, type Tone } from '../command-line/colour.ts';
import { outageLines } from '../command-line/freeze-words.ts';
import { plainText } from '../command-line/text-table.ts';

/** Of one state, before the others are only counted. */
const SHOWN_MAX = 5;

/** The lines. `isWide`: every finding, every cluster of each, and every next step. */
export function renderHealth(health: FleetHealth, isWide: boolean): readonly Line[] {
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
export function namesOf({ findings }: FleetHealth): readonly string[] {
  const named = findings.filter(({ subject }) => subject !== 'stack');
  return [
    ...new Set(
      named.map(({ subject, name, clusters: [cluster] }) =>
        subject === 'rollout' ? `rollout/${cluster ?? ''}/${name}` : `${subject}/${name}`,
      ),
    ),
  ];
}
