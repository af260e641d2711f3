/** A node: every DaemonSet that has or lacks a pod there and why, and what happened on it. */
import type { VNode } from 'preact';
import type { Explanation, Log } from '../model/documents.ts';
import { useDocument } from '../live/use-document.ts';
import { Shown } from '../parts/asked.tsx';
import { SetLink } from '../parts/link.tsx';
import { LogNotes, LogTable } from '../parts/log-table.tsx';
import { Panel } from '../parts/panel.tsx';
import { AnswerOf } from './answer.tsx';

const ASK_MS = 5_000;
const ASK_LOG_MS = 15_000;

/** The view. */
export function NodeView(props: { readonly cluster: string; readonly node: string }): VNode {
  const { cluster, node } = props;
  const why = useDocument<Explanation>({
    words: 'why',
    parameters: { cluster, node, all: true },
    everyMs: ASK_MS,
  });
  const log = useDocument<Log>({
    words: 'log',
    parameters: { subject: node, cluster, since: '7d', limit: 200 },
    everyMs: ASK_LOG_MS,
  });
  return (
    <>
      <div class="title">
        <h1>Node {node}</h1>
        <span class="about">in {cluster}</span>
      </div>
      <Panel title="Its daemons">
        <Shown asked={why} command="rollcall why">
          {({ answers }) => (
            <ul class="stack">
              {answers.map((answer) => {
                const set = `${answer.namespace}/${answer.name}`;
                return (
                  <li key={set} class="daemon">
                    <h3>
                      <SetLink view="daemonset" cluster={cluster} set={set} />
                    </h3>
                    <AnswerOf answer={answer} about="node" />
                  </li>
                );
              })}
            </ul>
          )}
        </Shown>
      </Panel>
      <Panel title="The last 7 days">
        <Shown asked={log} command="rollcall log">
          {(document) => (
            <>
              <LogNotes log={document} />
              <LogTable entries={document.entries} />
            </>
          )}
        </Shown>
      </Panel>
    </>
  );
}
