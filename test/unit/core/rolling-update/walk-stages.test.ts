/**
 * The walk of a staged rolling update over its budget: strict, within open nodes, past nodes that are not Ready.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nodeName, type NodeName } from '../../../../src/core/model/identifiers.ts';
import type { RolloutPod, Site } from '../../../../src/core/rolling-update/rollout-states.ts';
import { closeSites, walkStages } from '../../../../src/core/rolling-update/walk-stages.ts';
import type { Stages } from '../../../../src/core/stages/stages-input.ts';
import { NOW_MS, pod } from '../../../support/core-fixtures.ts';
import { record } from '../../../support/stage-records.ts';

function rolloutPod(name: string, options: Partial<RolloutPod> = {}): RolloutPod {
  return { pod: pod(name), isAvailable: true, isDoomed: false, ...options };
}

function site(name: string, options: Partial<Site> = {}): Site {
  return {
    node: nodeName(name),
    placement: 'run',
    state: { kind: 'only-old', old: rolloutPod(name) },
    isTouched: false,
    hasOpenCreate: false,
    ...options,
  };
}

const NAMES = ['n1', 'n2', 'n3', 'n4', 'n5', 'n6'];

function stages(options: Partial<Stages> = {}): Stages {
  return {
    record: record(),
    gate: { kind: 'updating', pendingNodes: 1 },
    strays: [],
    open: new Set(NAMES.map(nodeName)),
    former: new Set<NodeName>(),
    last: new Set<NodeName>(),
    maxUnavailable: 2,
    excused: new Set<NodeName>(),
    untilMs: [],
    events: [],
    asksEventsOf: [],
    ...options,
  };
}

function walked(sites: readonly Site[], options: Partial<Stages> = {}): Record<string, unknown> {
  const names = (list: readonly { readonly node: NodeName }[]): string =>
    list.map(({ node }) => node).join(' ');
  const walk = walkStages(sites, stages(options));
  return {
    deletes: names(walk.deletes),
    waiting: names(walk.waiting),
    refused: names(walk.refused),
    unavailable: walk.unavailableCount,
  };
}

const empty = (name: string): Site => site(name, { state: { kind: 'empty' } });
const unavailable = (name: string): Site =>
  site(name, { state: { kind: 'only-old', old: rolloutPod(name, { isAvailable: false }) } });

describe('a staged walk', () => {
  it('replaces as many as the budget has room for, in the order of their age and name', () => {
    assert.deepEqual(walked([site('n3'), site('n1'), site('n2')]), {
      deletes: 'n1 n2',
      waiting: 'n3',
      refused: '',
      unavailable: 0,
    });
  });

  it('counts nodes without a well pod, whatever they wait for', () => {
    const fresh = site('n1', {
      state: { kind: 'only-new', new: rolloutPod('n1', { isAvailable: false }) },
    });
    const doomed = site('n1', {
      state: { kind: 'only-new', new: rolloutPod('n1', { isDoomed: true }) },
    });
    const touched = site('n1', { isTouched: true });
    const crowded = site('n1', { state: { kind: 'crowded' } });
    for (const bad of [empty('n1'), fresh, doomed, touched, crowded]) {
      const told = walked([bad, site('n2'), site('n3')]);
      assert.deepEqual([told['deletes'], told['unavailable']], ['n2', 1]);
    }
    const well = site('n1', { state: { kind: 'only-new', new: rolloutPod('n1') } });
    assert.equal(walked([well, site('n2'), site('n3')])['deletes'], 'n2 n3');
    assert.equal(walked([empty('n1'), empty('n2'), site('n3')])['deletes'], '');
  });

  it('takes old pods that serve nobody first, but never more at once than the budget', () => {
    const told = walked([site('n1'), unavailable('n2'), unavailable('n3'), unavailable('n4')]);
    assert.deepEqual(told, { deletes: 'n2 n3', waiting: 'n4 n1', refused: '', unavailable: 3 });
  });

  it('repeats a delete that was not answered before it chooses another', () => {
    const doomed = site('n3', {
      state: { kind: 'only-old', old: rolloutPod('n3', { isDoomed: true }) },
    });
    assert.equal(walked([site('n1'), site('n2'), doomed], { maxUnavailable: 1 })['deletes'], 'n3');
  });

  it('counts neither excused nodes nor such as have no place in the rollout', () => {
    const excused = new Set([nodeName('n1'), nodeName('n2')]);
    const told = walked([empty('n1'), empty('n2'), site('n3'), site('n4')], { excused });
    assert.deepEqual([told['deletes'], told['unavailable']], ['n3 n4', 0]);
    const vanished = site('n1', { placement: 'vanished', state: { kind: 'empty' } });
    const kept = { ...empty('n2'), placement: 'keep' } as const;
    assert.equal(walked([vanished, kept, site('n3'), site('n4')])['deletes'], 'n3 n4');
  });

  it('lets others have their turn while a delete was refused', () => {
    const entry = {
      node: nodeName('n1'),
      generation: 1,
      code: 'forbidden',
      message: '',
      delayMs: 1,
      notBeforeMs: NOW_MS + 1,
    };
    const refused = site('n1', {
      state: { kind: 'only-old', old: rolloutPod('n1', { refused: entry }) },
    });
    const told = walked([refused, site('n2')]);
    assert.deepEqual([told['deletes'], told['refused']], ['n2', 'n1']);
  });
});

describe('sites as a walk with surge sees them', () => {
  it('are as they should be where their node is not open', () => {
    const open = new Set([nodeName('n2')]);
    const vanished = site('n3', { placement: 'vanished' });
    const both = site('n4', {
      state: { kind: 'both', old: rolloutPod('n4'), new: rolloutPod('n4') },
    });
    const closed = closeSites([site('n1'), site('n2'), vanished, both], stages({ open }));
    assert.deepEqual(
      closed.map(({ state }) => state.kind),
      ['only-new', 'only-old', 'only-old', 'both'],
    );
  });
});
