/** An answer of `why` in words: reasons ranked, each with its nodes and what to do. */
import type { VNode } from 'preact';
import { standstillOf } from '../../core/status/outages.ts';
import type { Answer } from '../model/documents.ts';
import { LOOK_WORDS } from '../model/looks.ts';
import type { LookKind } from '../model/looks.ts';
import { useAge } from '../live/page-context.ts';
import { Remedy } from '../parts/command.tsx';
import { ViewLink } from '../parts/link.tsx';
import { KindMark } from '../parts/mark.tsx';
import { Moment } from '../parts/moment.tsx';
import { Outages } from '../parts/outages.tsx';

const NODES_MAX = 16;

/** The answer; about its nodes, or about the one node that was asked for. While nothing is heard or acts there, it is as of before. */
export function AnswerOf(props: {
  readonly answer: Answer;
  readonly about: 'nodes' | 'node';
}): VNode {
  const { answer, about } = props;
  const {
    outages,
    message,
    remedy,
    counts = {},
    groups = [],
    cluster,
    lastSentAtMs,
    mode,
  } = answer;
  const isLate = useAge().kind !== 'fresh';
  const isStill = standstillOf(outages, mode) !== undefined;
  // What a standstill holds is held now.
  const isOld = (kind: LookKind): boolean => isLate || (isStill && kind !== 'held');
  if (message !== undefined) {
    return (
      <div class="box box-failing">
        <Outages outages={outages} />
        <p>Its nodes cannot be judged now: {message}.</p>
        {remedy === undefined ? null : <Remedy text={remedy} />}
      </div>
    );
  }
  return (
    <>
      <Outages outages={outages} />
      {about === 'node' ? null : (
        <p class="note">
          {Object.entries(counts)
            .map(([code, count]) => `${String(count)} ${code}`)
            .join(', ')}
          {lastSentAtMs === undefined ? null : (
            <>
              {' · told '}
              <Moment atMs={lastSentAtMs} />
            </>
          )}
        </p>
      )}
      {groups.length === 0 ? (
        <p class="empty">
          {isOld('serving') ? 'As of before, every' : 'Every'} node that should has a serving pod.
        </p>
      ) : null}
      <ol class="stack">
        {groups.map((group) => (
          <li key={`${group.code} ${group.message}`} class="group">
            <p>
              <KindMark kind={isOld(group.kind) ? 'unknown' : group.kind} />{' '}
              {isOld(group.kind) ? 'as of before: ' : ''}
              <strong>
                {about === 'node' ? '' : `${String(group.nodes.length)} `}
                {LOOK_WORDS[group.kind]}
              </strong>{' '}
              {group.code}: {group.message}
            </p>
            {about === 'node' ? null : <GroupNodes cluster={cluster} nodes={group.nodes} />}
            {group.remedy === undefined ? null : <Remedy text={group.remedy} />}
          </li>
        ))}
      </ol>
    </>
  );
}

function GroupNodes(props: { readonly cluster: string; readonly nodes: readonly string[] }): VNode {
  const { cluster, nodes } = props;
  const rest = nodes.length - NODES_MAX;
  return (
    <p class="note">
      {nodes.slice(0, NODES_MAX).map((node, place) => (
        <span key={node}>
          {place === 0 ? '' : ', '}
          <ViewLink route={{ view: 'node', cluster, node }}>{node}</ViewLink>
        </span>
      ))}
      {rest > 0 ? ` and ${String(rest)} more` : ''}
    </p>
  );
}
