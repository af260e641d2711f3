/** What a rolling update finds on each node (spec 2.9): which nodes it leaves alone, and in which order they go. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { judgeIntents } from '../../../../src/core/intents/intents.ts';
import type { Intent } from '../../../../src/core/model/state.ts';
import { planPods } from '../../../../src/core/manage-pods/plan-pods.ts';
import { findTargets } from '../../../../src/core/manage-pods/targets.ts';
import { preparePlanning } from '../../../../src/core/manage-pods/planning.ts';
import { findSites, type Site } from '../../../../src/core/rolling-update/rollout-states.ts';
import {
  NOW_MS,
  TIMEOUT_MS,
  context,
  createIntent,
  daemonSet,
  deleteIntent,
  namedPod,
  node,
  pod,
  slot,
  state,
  surging,
  view,
} from '../../../support/core-fixtures.ts';
import type { ViewOptions } from '../../../support/core-fixtures.ts';

function siteOf(options: ViewOptions, ...intents: readonly Intent[]): Site {
  const seen = view({ nodes: [node('n1')], ...options });
  const by = context({ state: state({ intents }) });
  const judged = judgeIntents({
    state: by.state,
    pods: options.pods ?? [],
    marks: {},
    era: by.state.written.era,
    nowMs: NOW_MS,
    requestTimeoutMs: TIMEOUT_MS,
  });
  const planning = preparePlanning(seen, by, {
    intents: judged,
    targets: findTargets(seen, by.currentHash),
  });
  const [site] = findSites(planning, planPods(planning));
  assert.ok(site !== undefined);
  return site;
}

const old = { app: 'agent', 'controller-revision-hash': 'old' };
const current = namedPod('n1', 'current', { createdAtMs: 2 });
const previous = namedPod('n1', 'previous', { createdAtMs: 1, labels: old });
const young = { ...current, readyChangedAtMs: NOW_MS };
const waiting = daemonSet({ spec: { ...surging(), minReadySeconds: 30 } });

describe('a node that the rest of the run changes is left alone', () => {
  it('not one whose pods are as they should be', () => {
    assert.equal(siteOf({ pods: [pod('n1')] }).isTouched, false);
    assert.equal(siteOf({ daemonSet: waiting, pods: [previous, young] }).isTouched, false);
  });

  it('one that gets a pod', () => {
    const site = siteOf({});
    assert.equal(site.isTouched, true);
    assert.equal(site.hasOpenCreate, true);
  });

  it('one of whose pods the view shows one alive whose delete was accepted', () => {
    const accepted = deleteIntent(previous, { isAccepted: true });
    assert.equal(siteOf({ daemonSet: waiting, pods: [previous, young] }, accepted).isTouched, true);
  });

  it('one that has an orphan among its pods, which is being adopted', () => {
    const orphan = namedPod('n1', 'orphan', { ownerUid: null, labels: old });
    assert.equal(siteOf({ daemonSet: waiting, pods: [orphan, young] }).isTouched, true);
  });

  it('one that loses a duplicate', () => {
    const twin = namedPod('n1', 'twin', { createdAtMs: 3 });
    assert.equal(siteOf({ pods: [current, twin] }).isTouched, true);
  });
});

describe('a create that may still add a pod', () => {
  it('is one of two whose name the view does not show', () => {
    const shown = createIntent('n1');
    const other = createIntent('n1', { name: 'agent-other' });
    const pods = [pod('n1')];
    assert.equal(siteOf({ pods }, shown).hasOpenCreate, false);
    assert.equal(siteOf({ pods }, shown, other).hasOpenCreate, true);
    assert.equal(siteOf({ pods: [namedPod('n1', slot('n1'))] }, other).hasOpenCreate, true);
  });
});
