/** The rollout of a DaemonSet: where it is, what it waits for, the evidence beside the halt, and the orders that can be given. */
import type { VNode } from 'preact';
import type { SetAddress } from '../model/address.ts';
import type { RolloutStatus } from '../model/documents.ts';
import { freezeOrders, ordersOfRollout } from '../model/orders.ts';
import type { Order } from '../model/orders.ts';
import { stepsOf, toneOfPhase } from '../model/rollout-words.ts';
import { useDocument } from '../live/use-document.ts';
import { Shown } from '../parts/asked.tsx';
import { ViewLink } from '../parts/link.tsx';
import { LiveMark } from '../parts/mark.tsx';
import { Moment } from '../parts/moment.tsx';
import { OrderButtons } from '../parts/order-dialog.tsx';
import { Outages } from '../parts/outages.tsx';
import { NextSteps, Notes, Panel } from '../parts/panel.tsx';
import { Evidence } from './evidence.tsx';
import { Steps } from './steps.tsx';

const ASK_MS = 3_000;

/** The view. */
export function RolloutView({ cluster, namespace, name }: SetAddress): VNode {
  const daemonset = `${namespace}/${name}`;
  const asked = useDocument<RolloutStatus>({
    words: 'rollout/status',
    parameters: { cluster, daemonset },
    everyMs: ASK_MS,
  });
  return (
    <>
      <div class="title">
        <h1>Rollout of {daemonset}</h1>
        <span class="about">
          in {cluster} ·{' '}
          <ViewLink route={{ view: 'daemonset', cluster, namespace, name }}>its nodes</ViewLink>
        </span>
      </div>
      <Shown asked={asked} command="rollcall rollout status">
        {(status) => <Status status={status} onGiven={asked.askAgain} />}
      </Shown>
    </>
  );
}

function Status(props: { readonly status: RolloutStatus; readonly onGiven: () => void }): VNode {
  const { status, onGiven } = props;
  const { cluster, phase, summary, outages, notes, staged, next, policyProblems = [] } = status;
  return (
    <>
      <Outages outages={outages} />
      <p>
        <LiveMark tone={toneOfPhase(phase)} text={phase} /> {summary}
      </p>
      <OrderButtons orders={ordersOf(status)} onGiven={onGiven} />
      {policyProblems.length === 0 ? null : (
        <ul class="box box-failing">
          {policyProblems.map(({ field, message }) => (
            <li key={`${field} ${message}`}>
              <code>{field}</code> {message}
            </li>
          ))}
        </ul>
      )}
      {staged?.breach === undefined ? null : <Halt breach={staged.breach} cluster={cluster} />}
      <NextSteps steps={next} />
      <div class="pair">
        <Where status={status} />
        {staged === undefined ? null : <Evidence cluster={cluster} staged={staged} />}
      </div>
      <Notes notes={notes} />
    </>
  );
}

function ordersOf(status: RolloutStatus): readonly Order[] {
  const { cluster, namespace, name, frozen } = status;
  const ofSet = freezeOrders({ kind: 'daemon-set', name: `${namespace}/${name}` });
  const ofCluster = freezeOrders({ kind: 'cluster', id: cluster });
  const scope = frozen?.scope;
  return [
    ...ordersOfRollout(status),
    scope === 'daemon-set' ? ofSet.thaw : ofSet.freeze,
    scope === 'cluster' ? ofCluster.thaw : ofCluster.freeze,
  ];
}

type Breach = NonNullable<NonNullable<RolloutStatus['staged']>['breach']>;

function Halt(props: { readonly breach: Breach; readonly cluster: string }): VNode {
  const { breach, cluster } = props;
  const { cause, message, atMs, nodes } = breach;
  return (
    <div class="box box-failing">
      <strong>{cause}</strong>: {message} (<Moment atMs={atMs} />)
      {nodes.length === 0 ? null : (
        <p>
          Seen on{' '}
          {nodes.map((node, place) => (
            <span key={node}>
              {place === 0 ? '' : ', '}
              <ViewLink route={{ view: 'node', cluster, node }}>{node}</ViewLink>
            </span>
          ))}
        </p>
      )}
    </div>
  );
}

function Where(props: { readonly status: RolloutStatus }): VNode {
  const { nodes, staged, budget, update, mode, lastSentAtMs, fleet } = props.status;
  return (
    <Panel title="Where it is">
      {staged === undefined ? null : <Steps steps={stepsOf(staged)} />}
      <dl class="facts">
        <dt>Nodes</dt>
        <dd>
          {nodes.updated} of {nodes.desired} updated, {nodes.available} available
          <progress
            max={Math.max(1, nodes.desired)}
            value={nodes.updated}
            aria-label="Nodes that are updated"
          />
        </dd>
        {staged === undefined ? null : <StagedFacts staged={staged} />}
        {budget === undefined ? null : (
          <>
            <dt>Budget</dt>
            <dd>
              {budget.freeNodes} free; {budget.unavailableNodes} of {budget.unavailableNodesMax}{' '}
              unavailable, {budget.surgingNodes} of {budget.surgeNodesMax} surge,{' '}
              {budget.waitingNodes} wait
            </dd>
          </>
        )}
        {fleet === undefined ? null : (
          <>
            <dt>Fleet</dt>
            <dd>
              {fleet.name}: {fleet.gateText}
            </dd>
          </>
        )}
        <dt>Mode</dt>
        <dd>
          {mode}, updates are {update}
        </dd>
        <dt>Told</dt>
        <dd>
          <Moment atMs={lastSentAtMs} />
        </dd>
      </dl>
    </Panel>
  );
}

type Staged = NonNullable<RolloutStatus['staged']>;

function StagedFacts(props: { readonly staged: Staged }): VNode {
  const { revision, gateText, gate, startedAtMs, former, canary, refused } = props.staged;
  return (
    <>
      <dt>Gate</dt>
      <dd>
        {gateText}
        {gate.kind === 'soaking' ? (
          <>
            {' '}
            (<Moment atMs={gate.untilMs} />)
          </>
        ) : null}
      </dd>
      <dt>Revision</dt>
      <dd>
        <code>{revision}</code>
        {former === undefined ? null : (
          <>
            , after <code>{former.hash}</code>
          </>
        )}
      </dd>
      <dt>Began</dt>
      <dd>
        <Moment atMs={startedAtMs} />
      </dd>
      {canary.length === 0 ? null : (
        <>
          <dt>Canary</dt>
          <dd>{canary.join(', ')}</dd>
        </>
      )}
      {refused.length === 0 ? null : (
        <>
          <dt>Refused</dt>
          <dd>{refused.map(({ hash, cause }) => `${hash} (${cause})`).join(', ')}</dd>
        </>
      )}
    </>
  );
}
