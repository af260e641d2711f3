/** Which revisions hold the present template: by meaning, by generation, by template generation (spec 2.10). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { findCurrentRevisions, holdsTemplate } from '../../../../src/core/history/history-match.ts';
import type { JsonObject } from '@rollcall/base/json.ts';
import type { DaemonSetObject, KubernetesObject } from '@rollcall/base/objects.ts';
import { revisionData } from '../../../../src/core/history/revisions.ts';
import { daemonSet } from '../../../support/core-fixtures.ts';
import { storedRevision } from '../../../support/stored-revision.ts';

const TEMPLATE_GENERATION = 'deprecated.daemonset.template.generation';
const marked = (generation: string): JsonObject => ({
  annotations: { [TEMPLATE_GENERATION]: generation },
});

/** The DaemonSet as a newer API server shows it: it fills in a field that was not there. */
function upgraded(generation = '3'): DaemonSetObject {
  return daemonSet({
    podSpec: { containers: [{ name: 'main', image: 'agent:1', newlyDefaulted: 'Yes' }] },
    metadata: { creationTimestamp: '2026-11-21T10:00:00Z', ...marked(generation) },
  });
}

const namesOf = (
  set: DaemonSetObject,
  revisions: readonly KubernetesObject[],
  knownUid?: string,
): readonly string[] =>
  findCurrentRevisions(set, revisions, knownUid).map(({ metadata }) => metadata.name);

describe('rule 1: by meaning', () => {
  it('finds equal data whatever the key order, with nulls (#78633)', () => {
    const data = {
      spec: {
        template: {
          $patch: 'replace',
          spec: { containers: [{ image: 'agent:1', name: 'main', resources: null }] },
          metadata: { creationTimestamp: null, labels: { app: 'agent' } },
        },
      },
    };
    const found = storedRevision('a', { data });
    assert.deepEqual(namesOf(daemonSet(), [found]), ['a']);
    assert.ok(holdsTemplate(daemonSet(), found));
  });

  it('finds all that hold it', () => {
    assert.deepEqual(namesOf(daemonSet(), [storedRevision('a'), storedRevision('b')]), ['a', 'b']);
  });
});

describe('rule 3: by template generation', () => {
  const made = (options: { generation?: string; metadata?: JsonObject; of?: DaemonSetObject }) =>
    storedRevision('a', {
      ...(options.of === undefined ? {} : { of: options.of }),
      metadata: { ...marked(options.generation ?? '3'), ...options.metadata },
    });

  it('keeps a revision that lacks a newly defaulted field (#78633, #134773)', () => {
    assert.deepEqual(namesOf(upgraded(), [made({})]), ['a']);
  });

  it('keeps one that has a field which an older API server drops', () => {
    const metadata = { creationTimestamp: '2026-11-21T10:00:00Z', ...marked('3') };
    assert.deepEqual(namesOf(daemonSet({ metadata }), [made({ of: upgraded() })]), ['a']);
  });

  it('names one only, the highest: nothing is deleted on its word', () => {
    const low = storedRevision('low', { metadata: marked('3'), revision: 1 });
    const high = storedRevision('high', { metadata: marked('3'), revision: 2 });
    assert.deepEqual(namesOf(upgraded(), [high, low]), ['high']);
  });

  it('is not asked where rule 1 or 2 finds something', () => {
    const exact = storedRevision('exact', { of: upgraded() });
    assert.deepEqual(namesOf(upgraded(), [made({}), exact]), ['exact']);
  });

  const other = daemonSet({ podSpec: { containers: [{ name: 'main', image: 'agent:2' }] } });
  const traps: readonly [string, KubernetesObject][] = [
    ['of another template generation', made({ generation: '2' })],
    ['renumbered by the built-in controller, with its old annotation', made({ generation: '1' })],
    ['without the annotation', made({ metadata: { annotations: undefined } })],
    ['of an orphan', made({ metadata: { ownerReferences: [] } })],
    ['older than the DaemonSet', made({ metadata: { creationTimestamp: '2026-11-21T09:59:59Z' } })],
    ['of unknown age', made({ metadata: { creationTimestamp: undefined } })],
    ['whose data contradict the template', made({ of: other })],
  ];
  for (const [title, revision] of traps) {
    it(`does not hold for a revision ${title}`, () => {
      assert.deepEqual(namesOf(upgraded(), [revision]), []);
    });
  }

  it('does not hold for a DaemonSet without template generation', () => {
    for (const annotations of [undefined, { [TEMPLATE_GENERATION]: '' }]) {
      const set = upgraded();
      const bare = { ...set, metadata: { ...set.metadata, annotations } } as DaemonSetObject;
      const revision = made({ generation: '' });
      assert.deepEqual(namesOf(bare, [revision, made({})]), []);
    }
  });

  it('finds the fixture different by meaning: otherwise these tests could not fail', () => {
    assert.ok(!holdsTemplate(upgraded(), made({})));
    assert.deepEqual(made({})['data'], revisionData(daemonSet()));
  });
});
