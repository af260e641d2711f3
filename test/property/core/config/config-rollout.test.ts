/**
 * Content that is part of a revision, rolled out in stages (ADR 0061): what a change restarts, and what nothing restarts.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nodeName } from '../../../../src/core/model/identifiers.ts';
import type { ConfigObservation, ObservedConfig } from '../../../../src/core/model/projections.ts';
import type { RolloutPolicy } from '../../../../src/core/policy/rollout-policy.ts';
import { CONFIG_HASH_LABEL } from '../../../../src/core/pod/revision.ts';
import { node } from '../../../support/core-fixtures.ts';
import { StagedWorld, policy } from '../../../support/staged-world.ts';
import type { StagedWorldOptions } from '../../../support/staged-world.ts';

const NODES = 12;
const KEY = '0a0a0a0a';
const podSpec = {
  containers: [
    { name: 'agent', image: 'example/agent:1', envFrom: [{ configMapRef: { name: 'settings' } }] },
  ],
};

function world(
  options: Partial<RolloutPolicy> = {},
  more: Partial<StagedWorldOptions> = {},
): StagedWorld {
  const nodes = Array.from({ length: NODES }, (_, index) => node(`n-${String(index)}`));
  const config: RolloutPolicy['config'] = { kind: 'referenced' };
  const strategy = { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 2 } };
  const soaking = policy({ soakMs: 60_000, config, ...options });
  return new StagedWorld({ nodes, policy: soaking, strategy, podSpec, ...more });
}

function observed(
  hash: string | undefined,
  change: Partial<ConfigObservation> = {},
): ObservedConfig {
  const known = hash === undefined ? {} : { hash };
  return { key: KEY, objects: [{ kind: 'ConfigMap', name: 'settings', ...known, ...change }] };
}

/** Half an hour of looks. */
function halfAnHour(played: StagedWorld): void {
  for (let tick = 0; tick < 60; tick += 1) played.tick(30_000);
}

function settled(options: Partial<RolloutPolicy> = {}): StagedWorld {
  const played = world(options);
  played.observed = observed('11');
  halfAnHour(played);
  return played;
}

/** Content changes, and the pods that begin with it crash. */
function breakContent(played: StagedWorld, hash: string): void {
  played.observed = observed(hash);
  played.tick(1000);
  const lastExit = { reason: 'Error', exitCode: 1 };
  const trouble = { restarts: 2, waiting: 'CrashLoopBackOff', lastExit, container: 'agent' };
  played.behaviours.set(labelNow(played), {
    trouble: (ageMs) => (ageMs < 20_000 ? undefined : trouble),
    ready: () => ({ isReady: false, sinceMs: 0 }),
  });
}

function labelNow(played: StagedWorld): string {
  const { scope, hash } = played.record?.config ?? assert.fail('no content is known');
  return `${scope}.${hash}`;
}

/** Pods that say that they began with what counts now. */
function current(played: StagedWorld): number {
  return played.countLabelled(CONFIG_HASH_LABEL, labelNow(played));
}

describe('content in a staged rollout', () => {
  it('a change under an unchanged template begins with the canary, soaks, and goes on', () => {
    const played = settled();
    played.observed = observed('22');
    played.tick(1000);
    played.tick(1000);
    assert.equal(played.made.length, 1, 'one canary');
    assert.match(played.events.join('\n'), /ConfigChanged: The content of ConfigMap settings/);
    played.tick(20_000);
    assert.equal(played.deleted.length, 1, 'the soak holds all others');
    assert.ok(played.until(() => played.record?.step.kind === 'done'));
    assert.equal(current(played), NODES);
    assert.equal(played.deleted.length, NODES);
    assert.equal(played.record?.proven?.hash, played.record?.hash);
  });

  it('is halted on its canary, names the object, and rolls nothing back', () => {
    const played = settled({ onBreach: 'rollback' });
    breakContent(played, '22');
    halfAnHour(played);
    assert.equal(played.record?.breach?.cause, 'Restarts');
    assert.match(
      played.record.breach.message,
      /the content of ConfigMap settings, which its owner/,
    );
    assert.equal(played.deleted.length, 1);
    assert.equal(played.plan?.wantsFormer, undefined);
  });

  it('content that was halted and is taken back is returned to, and held when it comes again', () => {
    const played = settled();
    breakContent(played, '22');
    assert.ok(played.until(() => played.record?.breach !== undefined));
    played.observed = observed('11');
    halfAnHour(played);
    assert.equal(played.record?.isReturn, true);
    assert.equal(played.deleted.length, 2, 'the canary went, and came back');
    played.observed = observed('22');
    halfAnHour(played);
    assert.equal(played.record.breach?.cause, 'KnownBad');
    assert.equal(played.deleted.length, 2);
  });

  it('a node that loses its pod before its step is open takes the content as it is, and says so', () => {
    const played = settled({ approval: 'each-step' });
    played.observed = observed('22');
    halfAnHour(played);
    assert.equal(current(played), 1);
    const other = [...played.pods.values()].find(
      ({ labels }) => labels[CONFIG_HASH_LABEL] === undefined,
    );
    played.evict(other?.targetNode ?? nodeName('n-0'));
    halfAnHour(played);
    assert.equal(current(played), 2);
    assert.deepEqual(played.plan?.stages?.strays, [other?.targetNode]);
    assert.equal(played.deleted.length, 1);
  });

  it('a pod of the former template says what it began with, and stays when that comes back', () => {
    const played = settled();
    played.observed = observed('22');
    halfAnHour(played);
    played.policy = policy({ ...played.policy, approval: 'each-step' });
    played.hash = 'bbbb';
    halfAnHour(played);
    const other = [...played.pods.values()].find(
      ({ labels }) => labels['controller-revision-hash'] === 'aaaa',
    );
    played.evict(other?.targetNode ?? nodeName('n-0'));
    halfAnHour(played);
    assert.deepEqual([played.count('aaaa'), current(played)], [NODES - 1, NODES]);
    played.hash = 'aaaa';
    halfAnHour(played);
    const before = played.deleted.length;
    played.observed = observed('33');
    played.tick(1000);
    played.tick(1000);
    played.observed = observed('22');
    halfAnHour(played);
    assert.equal(played.deleted.length, before + 2, 'the canary went, and came back');
  });

  it('a rollback to a template whose pods begin with content that was halted makes each of them once', () => {
    const played = settled({ onBreach: 'rollback' });
    breakContent(played, '22');
    assert.ok(played.until(() => played.record?.breach !== undefined));
    const sick = played.behaviours.get(labelNow(played)) ?? assert.fail('all are well');
    played.behaviours.clear();
    played.behaviours.set('bbbb', sick);
    played.hash = 'bbbb';
    halfAnHour(played);
    assert.equal(played.record?.breach?.cause, 'Restarts');
    assert.equal(played.count('aaaa'), NODES);
    assert.equal(played.deleted.length, 3, 'its canary went twice: to the new template, and back');
  });
});

describe('nothing is restarted', () => {
  const quiet: readonly (readonly [string, (played: StagedWorld) => void])[] = [
    ['by turning it on', () => undefined],
    ['by turning it off', (played) => (played.policy = policy({ soakMs: 60_000 }))],
    ['by a watcher that knows nothing yet', (played) => (played.observed = observed(undefined))],
    ['by a watcher that says nothing of it', (played) => (played.observed = undefined)],
    ['by another key', (played) => (played.observed = { ...observed('99'), key: '0b0b0b0b' })],
    ['by a key that is gone', (played) => (played.observed = { objects: [] })],
    [
      'by a right that is gone',
      (played) => (played.observed = observed(undefined, { problem: 'forbidden' })),
    ],
    [
      'by an object that is gone',
      (played) => (played.observed = observed(undefined, { problem: 'missing' })),
    ],
    [
      'by other objects that count',
      (played) => {
        const config = { kind: 'listed', configMaps: ['other'], secrets: [] } as const;
        played.policy = policy({ soakMs: 60_000, config });
        played.observed = { key: KEY, objects: [{ kind: 'ConfigMap', name: 'other', hash: '33' }] };
      },
    ],
  ];
  for (const [what, change] of quiet) {
    it(what, () => {
      const played = settled();
      change(played);
      halfAnHour(played);
      assert.deepEqual(played.deleted, []);
      assert.equal(played.record?.breach, undefined);
    });

    it(`${what}, after content was rolled out`, () => {
      const played = settled();
      played.observed = observed('22');
      halfAnHour(played);
      assert.equal(played.deleted.length, NODES);
      change(played);
      halfAnHour(played);
      assert.equal(played.deleted.length, NODES);
    });

    it(`${what}, and back`, () => {
      const played = settled();
      const { policy: asked, observed: seen } = played;
      change(played);
      halfAnHour(played);
      played.policy = asked;
      played.observed = seen;
      halfAnHour(played);
      assert.deepEqual(played.deleted, []);
    });
  }

  it('and a rollout that is under way keeps its record while it is renamed', () => {
    const played = world();
    halfAnHour(played);
    played.hash = 'bbbb';
    played.until(() => played.record?.step.kind === 'canary');
    const { startedAtMs } = played.record ?? assert.fail('no record');
    played.observed = observed('11');
    played.tick(1000);
    assert.match(played.record?.hash ?? '', /^bbbb\+/);
    assert.equal(played.record?.startedAtMs, startedAtMs);
    played.policy = policy({ soakMs: 60_000 });
    played.tick(1000);
    assert.deepEqual([played.record?.hash, played.record?.startedAtMs], ['bbbb', startedAtMs]);
    halfAnHour(played);
    assert.equal(played.deleted.length, NODES);
  });

  it('what could not be read for an hour counts as it was, and a change in between is seen after', () => {
    const played = settled();
    played.observed = observed(undefined, { problem: 'unread' });
    halfAnHour(played);
    assert.match(played.events.join('\n'), /ConfigUnknown: .*could not be read for a while/);
    played.observed = observed('22');
    halfAnHour(played);
    assert.equal(current(played), NODES);
  });

  it('in copilot, where a change is told', () => {
    const played = world({}, { mode: 'copilot', strategy: { type: 'OnDelete' } });
    played.observed = observed('11');
    halfAnHour(played);
    played.observed = observed('22');
    halfAnHour(played);
    assert.deepEqual(played.deleted, []);
    assert.match(played.events.join('\n'), /ConfigChanged: .* since 12 pods began/);
    assert.equal(played.record?.hash, 'aaaa');
  });

  it('with surge, where two pods would ask for one name', () => {
    const rollingUpdate = { maxSurge: 1, maxUnavailable: 0 };
    const played = world({}, { strategy: { type: 'RollingUpdate', rollingUpdate } });
    played.observed = observed('11');
    halfAnHour(played);
    played.observed = observed('22');
    halfAnHour(played);
    assert.deepEqual(played.deleted, []);
  });
});
