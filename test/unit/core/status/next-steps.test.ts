/** What is proposed of a rollout that is held: by cause, by mode, and in commands that there are. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { NextHome, NextSubject } from '../../../../src/core/status/next-steps.ts';
import { nextStepsOf } from '../../../../src/core/status/next-steps.ts';
import { clusterId } from '../../../../src/core/model/identifiers.ts';
import type { Gate } from '../../../../src/core/model/staged-progress.ts';

const NODES: NextHome = { kind: 'rollout', cluster: 'prod', key: 'ops/agent', mode: 'takeover' };
const FLEET: NextHome = { kind: 'fleet', key: 'ops/agent' };
const NOTE = { by: 'ann', atMs: 1 };

type Breach = NonNullable<NextSubject['breach']>;

function halt(cause: Breach['cause'], home = NODES, more: Partial<NextSubject> = {}): string[] {
  const members = home.kind === 'fleet' ? ['eu-1', 'eu-2'] : ['n1', 'n2'];
  const breach = { cause, members, isOfPlace: false };
  const subject = { home, gate: { kind: 'breach' }, breach, orders: {}, back: 'revision abc' };
  return told({ ...subject, ...more } as NextSubject);
}

function told(subject: NextSubject): string[] {
  return nextStepsOf(subject).map(({ command, about }) => `${command} # ${about}`);
}

function waits(gate: Gate, home: NextHome, orders: NextSubject['orders'] = {}): string[] {
  return told({ home, gate, orders });
}

describe('what to do next about a halt', () => {
  it('is to look, to go back, or to overrule it', () => {
    assert.deepEqual(halt('StartFailure'), [
      'rollcall why ops/agent --cluster prod # what its pods show, and what to do about it',
      'rollcall log ops/agent --cluster prod # what came before, and who ordered what',
      'rollcall rollout undo prod ops/agent # goes back to revision abc',
      "rollcall rollout resume prod ops/agent --why '…' --yes # overrules StartFailure on n1, n2: only what happens later counts",
    ]);
    assert.deepEqual(halt('ClustersFailed', FLEET, { back: 'generation 2' }), [
      'rollcall rollout status eu-1 ops/agent # how it stands in the first of these clusters',
      'rollcall log ops/agent # what came before, and who ordered what',
      'rollcall fleet undo ops/agent # goes back to generation 2',
      "rollcall fleet resume ops/agent --why '…' --yes # overrules ClustersFailed on eu-1, eu-2: only what happens later counts",
    ]);
  });

  it('looks at what its cause is about', () => {
    const first = (...of: Parameters<typeof halt>): string =>
      (halt(...of)[0] ?? '').split(' #')[0] ?? '';
    assert.equal(first('NodesFailed'), 'rollcall why --cluster prod --node n1');
    assert.equal(first('NodesFailed', FLEET), 'rollcall rollout status eu-1 ops/agent');
    assert.equal(first('ApiServerSlow'), 'rollcall cluster doctor prod');
    assert.equal(first('KnownBad'), 'rollcall log ops/agent --cluster prod');
    assert.equal(first('KnownBad', FLEET), 'rollcall fleet history ops/agent');
    assert.equal(first('ClustersSilent', FLEET), 'rollcall cluster doctor eu-1');
  });

  it('proposes no undo where there is nothing to go back to, nor where the release is not to blame', () => {
    for (const lines of [
      told({ home: NODES, gate: { kind: 'breach' }, orders: {} }),
      halt('ClustersNotUpdated', FLEET, {
        breach: { cause: 'ClustersNotUpdated', members: [], isOfPlace: true },
      }),
    ]) {
      assert.doesNotMatch(lines.join('\n'), / undo /);
    }
  });

  it('tries once more to go back where a way back that was ordered is stuck', () => {
    const lines = halt('ReturnFailed', FLEET, { orders: { undo: NOTE } });
    assert.match(
      lines.join('\n'),
      /^rollcall fleet undo ops\/agent # tries once more to go back$/m,
    );
  });

  it('says in copilot that undo prints a command, and orders nothing in observe', () => {
    const copilot = halt('Restarts', { ...NODES, mode: 'copilot' }).join('\n');
    assert.match(copilot, /undo prod ops\/agent # prints the kubectl command that goes back to/);
    const observe = halt('Restarts', { ...NODES, mode: 'observe' });
    assert.deepEqual(
      observe.map((line) => line.split(' ').slice(0, 2).join(' ')),
      ['rollcall why', 'rollcall log'],
    );
  });

  it('confirms what a fleet decides', () => {
    const lines = halt('Restarts', { ...NODES, fleet: 'ops/agent' }).join('\n');
    assert.match(
      lines,
      /undo prod ops\/agent --yes # .* \(fleet ops\/agent decides what follows\)/,
    );
    assert.match(lines, /resume prod ops\/agent --why '…' --yes # overrules/);
  });
});

describe('what to do next about a wait', () => {
  it('is what the wait is for', () => {
    const approval: Gate = { kind: 'approval', stepIndex: 1 };
    assert.deepEqual(waits(approval, NODES), [
      'rollcall rollout approve prod ops/agent # agrees: it goes on',
    ]);
    assert.deepEqual(waits({ kind: 'no-evidence', stage: 's', stepIndex: 1 }, FLEET), [
      'rollcall fleet approve ops/agent # lets it pass without evidence',
    ]);
    assert.deepEqual(waits({ kind: 'paused', by: 'order' }, NODES, { paused: NOTE }), [
      'rollcall rollout resume prod ops/agent # lifts the pause of ann',
    ]);
    assert.deepEqual(waits({ kind: 'paused', by: 'policy' }, NODES), [
      'kubectl --namespace ops edit daemonset/agent # take paused: true out of it (annotation rollcall.dev/rollout)',
    ]);
    const undone = { gate: { kind: 'returned' }, orders: { undo: NOTE } } as const;
    assert.deepEqual(halt('OOMKilled', NODES, undone), [
      "rollcall rollout resume prod ops/agent --why '…' --yes # takes the undo of ann back, and overrules OOMKilled on n1, n2: only what happens later counts",
    ]);
    assert.deepEqual(waits({ kind: 'returned' }, FLEET, { undo: NOTE }), [
      'rollcall fleet resume ops/agent # takes the undo of ann back',
    ]);
    const refused = { kind: 'refused', cluster: clusterId('eu-1'), message: '' } as const;
    assert.deepEqual(waits({ ...refused, sinceMs: 1, askAtMs: 2 }, FLEET), [
      'rollcall fleet rights eu-1 # which rights it needs there',
    ]);
  });

  it('is nothing where it goes on by itself', () => {
    for (const gate of [
      { kind: 'soaking', untilMs: 1 },
      { kind: 'window' },
      { kind: 'done' },
    ] as const) {
      assert.deepEqual(waits(gate, NODES), []);
    }
  });
});
