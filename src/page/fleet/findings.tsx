/** What is not whole, the gravest first, each with why and what to do. */
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { HealthFinding } from '../../core/status/health/health-facts.ts';
import { formatAddress, pathOf } from '../model/address.ts';
import { CommandLine, Remedy } from '../parts/command.tsx';
import { Link } from '../parts/link.tsx';
import { KindMark, StateMark } from '../parts/mark.tsx';

const SHOWN = 3;
const CLUSTERS_SHOWN = 6;

export function Findings(props: { readonly findings: readonly HealthFinding[] }): VNode | null {
  const { findings } = props;
  const [isWhole, setIsWhole] = useState(false);
  if (findings.length === 0) return null;
  const shown = isWhole ? findings : findings.slice(0, SHOWN);
  const rest = findings.length - shown.length;
  return (
    <section class="findings" aria-labelledby="findings">
      <h2 id="findings">Not whole ({findings.length})</h2>
      <ol>
        {shown.map((finding) => (
          <FindingRow key={keyOf(finding)} finding={finding} />
        ))}
      </ol>
      {rest > 0 || isWhole ? (
        <button
          type="button"
          class="quiet"
          aria-expanded={isWhole}
          onClick={() => {
            setIsWhole(!isWhole);
          }}
        >
          {isWhole ? 'Show the gravest alone' : `Show ${String(rest)} more`}
        </button>
      ) : null}
    </section>
  );
}

function keyOf({ state, subject, name, clusters }: HealthFinding): string {
  return [state, subject, name, ...clusters].join(' ');
}

function FindingRow(props: { readonly finding: HealthFinding }): VNode {
  const { finding } = props;
  const { state, severity, name, clusters, message, remedy, reasons = [], next = [] } = finding;
  const steps = next.length > 0 ? next : undefined;
  const where = clusters.slice(0, CLUSTERS_SHOWN).join(', ');
  const more = clusters.length - CLUSTERS_SHOWN;
  const isTold = finding.subject === 'cluster' || message.includes(`in ${where}`);
  const isElsewhere = clusters.length > 0 && !isTold;
  return (
    <li class={`finding finding-${severity}`}>
      <div class="finding-head">
        <StateMark tone={severity} text={state} />
        {name === '' ? null : (
          <Link to={addressOf(finding)} class="finding-name">
            {name}
          </Link>
        )}
        <span class="finding-text">{message}</span>
        {isElsewhere ? (
          <span class="about">
            in {where}
            {more > 0 ? ` and ${String(more)} more` : ''}
          </span>
        ) : null}
      </div>
      {reasons.length === 0 ? null : (
        <ul class="reasons">
          {reasons.map(({ code, title, kind, nodes }) => (
            <li key={code}>
              <KindMark kind={kind} /> <strong>{nodes}</strong> {code}: {title}
            </li>
          ))}
        </ul>
      )}
      <div class="finding-next">
        {steps === undefined ? (
          <Remedy text={remedy} />
        ) : (
          steps.map(({ command, about }) => (
            <CommandLine key={command} command={command} about={about} />
          ))
        )}
      </div>
    </li>
  );
}

function addressOf({ subject, name, clusters }: HealthFinding): string {
  const [cluster] = clusters;
  const [namespace = '', of = ''] = name.split('/');
  const route = { view: 'fleet' } as const;
  if (subject === 'fleet') return pathOf({ view: 'fleet-rollout', namespace, name: of });
  if (subject === 'rollout' && cluster !== undefined) {
    return pathOf({ view: 'rollout', cluster, namespace, name: of });
  }
  if (subject !== 'daemonset') return formatAddress({ route, query: { q: `cluster:${name}` } });
  return cluster !== undefined && clusters.length === 1
    ? pathOf({ view: 'daemonset', cluster, namespace, name: of })
    : formatAddress({ route, query: { daemonset: name, q: '' } });
}
