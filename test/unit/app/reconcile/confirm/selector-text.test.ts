/** The selector that a live LIST asks with, and the shape that a DaemonSet must have (row 67). */
import { describe, it } from 'node:test';
import { findShapeProblem } from '../../../../../src/app/reconcile/read/judge-daemon-set.ts';
import { selectorText } from '../../../../../src/app/reconcile/confirm/live-pods.ts';

import assert from 'node:assert/strict';

describe('a selector as the text of a LIST', () => {
  it('has its labels in order, then each requirement in words of the API server', () => {
    const text = selectorText({
      matchLabels: { tier: 'b', app: 'a', zone: '' },
      matchExpressions: [
        { key: 'c', operator: 'In', values: ['d', 'e'] },
        { key: 'f', operator: 'Exists' },
        { key: 'g', operator: 'DoesNotExist' },
        { key: 'h', operator: 'NotIn', values: ['i'] },
      ],
    });
    assert.equal(text, 'app=a,tier=b,zone=,c in (d,e),f,!g,h notin (i)');
  });

  it('is empty where nothing is required', () => {
    assert.equal(selectorText(undefined), '');
    assert.equal(selectorText({}), '');
  });
});

describe('a DaemonSet of another shape (row 67)', () => {
  const metadata = { name: 'a', namespace: 'n', uid: 'u', resourceVersion: '1' };
  const shaped = (spec: object = {}, more: object = {}): object => ({
    metadata: { ...metadata, ...more },
    spec: { template: { spec: {} }, ...spec },
  });
  const podSpec = (spec: object): object => shaped({ template: { spec } });

  it('is none as long as what is read of it is of its type, whatever else it holds', () => {
    assert.equal(
      findShapeProblem(shaped({ novelty: 1 }, { labels: { constructor: 'x' } })),
      undefined,
    );
    assert.equal(
      findShapeProblem(podSpec({ tolerations: [{ key: 'k', tolerationSeconds: 3 }] })),
      undefined,
    );
    for (const maxSurge of [1, '10%']) {
      const updateStrategy = { type: 'RollingUpdate', rollingUpdate: { maxSurge } };
      assert.equal(findShapeProblem(shaped({ updateStrategy })), undefined);
    }
  });

  it('is said with the member that is wrong, and what it is instead', () => {
    const wrong: readonly [object | null, string][] = [
      [null, 'it is null'],
      [shaped({ template: undefined }), 'spec.template is missing'],
      [shaped({ minReadySeconds: 0.5 }), 'spec.minReadySeconds is of type number'],
      [shaped({ revisionHistoryLimit: '3' }), 'spec.revisionHistoryLimit is of type string'],
      [shaped({ selector: { matchLabels: [] } }), 'spec.selector.matchLabels is a list'],
      [shaped({}, { labels: { a: 1 } }), 'metadata.labels is of type object'],
      [shaped({}, { uid: null }), 'metadata.uid is null'],
      [podSpec({ hostNetwork: 'yes' }), 'spec.template.spec.hostNetwork is of type string'],
      [podSpec({ tolerations: {} }), 'spec.template.spec.tolerations is of type object'],
      [
        podSpec({ affinity: { nodeAffinity: 'x' } }),
        'spec.template.spec.affinity.nodeAffinity is of type string',
      ],
      [{ ...shaped(), status: { conditions: {} } }, 'status.conditions is of type object'],
    ];
    for (const [object, start] of wrong) {
      assert.equal(findShapeProblem(object), `${start}, not what Kubernetes has there`);
    }
  });
});
