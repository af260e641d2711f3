/** Watches on virtual time: what is sent, when it ends. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createApiBench, MERGE, NAMESPACE, POD } from '../../../support/api-bench.ts';
import type { ApiBench } from '../../../support/api-bench.ts';

const MAPS = `${NAMESPACE}/configmaps`;

function bench(): ApiBench & {
  readonly create: (name: string, labels?: Readonly<Record<string, string>>) => void;
  readonly label: (name: string, labels: Readonly<Record<string, string | null>>) => void;
} {
  const made = createApiBench();
  return {
    ...made,
    create: (name, labels = {}) => {
      made.ask('POST', MAPS, { body: { metadata: { name, labels } } });
    },
    label: (name, labels) => {
      made.ask('PATCH', `${MAPS}/${name}`, { body: { metadata: { labels } }, contentType: MERGE });
    },
  };
}

describe('watch', () => {
  it('begins with everything, then follows', async () => {
    const { create, label, ask, watch, clock } = bench();
    create('a');
    const { summary } = watch(`${MAPS}?watch=1`);
    create('b');
    label('a', { x: 'y' });
    ask('DELETE', `${MAPS}/b`);
    await clock.advance(0);
    assert.deepEqual(summary(), ['ADDED a', 'ADDED b', 'MODIFIED a', 'DELETED b']);
  });

  it('resumes after a version without repeating it', async () => {
    const { create, watch, clock, store } = bench();
    create('a');
    const version = store.version();
    create('b');
    const { summary } = watch(`${MAPS}?watch=1&resourceVersion=${String(version)}`);
    create('c');
    await clock.advance(0);
    assert.deepEqual(summary(), ['ADDED b', 'ADDED c']);
  });

  it('turns what begins or ceases to match into additions and deletions', async () => {
    const { create, label, watch, clock, store } = bench();
    create('a');
    const { frames, summary } = watch(`${MAPS}?watch=1&labelSelector=x`);
    label('a', { x: '1' });
    label('a', { x: '2' });
    label('a', { x: null });
    label('a', { y: '1' });
    await clock.advance(0);
    assert.deepEqual(summary(), ['ADDED a', 'MODIFIED a', 'DELETED a']);
    const last = frames.at(-1)?.object['metadata'] as { resourceVersion: string; labels: object };
    assert.deepEqual(last.labels, { x: '2' }, 'the state that matched last');
    assert.equal(last.resourceVersion, String(store.version() - 1n), 'the version of the change');
  });

  it('says that a version is forgotten in an ERROR frame, and ends', async () => {
    const { create, watch, clock, store } = bench();
    create('a');
    create('b');
    store.compact();
    const { frames, isEnded } = watch(`${MAPS}?watch=1&resourceVersion=1`);
    assert.deepEqual(
      frames.map(({ type, object }) => [type, object['code'], object['reason']]),
      [['ERROR', 410, 'Expired']],
    );
    assert.equal(isEnded(), false, 'not before the caller holds the cancel');
    await clock.advance(1);
    assert.equal(isEnded(), true);
    assert.equal(clock.pendingTimers, 0);
  });

  it('says that a list from the future cannot be sent in an ERROR frame', () => {
    const { watch } = bench();
    const query = 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion=99999';
    const { frames } = watch(`${MAPS}?watch=1&${query}`);
    assert.deepEqual(
      frames.map(({ object }) => object['code']),
      [504],
    );
  });

  it('marks the end of the first frames, then every minute, then before the end', async () => {
    const { create, watch, clock, store } = bench();
    create('a');
    const { frames, summary, isEnded } = watch(
      `${MAPS}?watch=1&allowWatchBookmarks=true&timeoutSeconds=130`,
    );
    assert.deepEqual(summary(), ['ADDED a', 'BOOKMARK']);
    const { annotations } = frames[1]?.object['metadata'] as { annotations: object };
    assert.deepEqual(annotations, { 'k8s.io/initial-events-end': 'true' });
    await clock.advance(60_000);
    assert.equal(frames.length, 3);
    create('b');
    await clock.advance(59_999);
    assert.deepEqual(summary().slice(3), ['ADDED b']);
    await clock.advance(1);
    assert.deepEqual(summary().slice(3), ['ADDED b', 'BOOKMARK']);
    assert.deepEqual(frames.at(-1)?.object['metadata'], {
      resourceVersion: String(store.version()),
    });
    await clock.advance(8_000);
    assert.deepEqual(summary().slice(5), ['BOOKMARK']);
    await clock.advance(2_000);
    assert.equal(isEnded(), true);
    create('c');
    await clock.advance(0);
    assert.equal(frames.length, 6, 'nothing follows the end');
    assert.equal(clock.pendingTimers, 0);
  });

  it('ends by itself between half an hour and an hour', async () => {
    const { watch, clock } = bench();
    const { isEnded } = watch(`${MAPS}?watch=1`);
    await clock.advance(1_800_000 - 1);
    assert.equal(isEnded(), false);
    await clock.advance(1_800_001);
    assert.equal(isEnded(), true);
  });

  it('sends nothing after it was cancelled', async () => {
    const { create, watch, clock } = bench();
    const { frames, cancel } = watch(`${MAPS}?watch=1`);
    create('a');
    cancel();
    await clock.advance(0);
    assert.deepEqual(frames, []);
    assert.equal(clock.pendingTimers, 0);
  });

  it('follows the pods of a node', async () => {
    const { ask, watch, clock } = bench();
    const { summary } = watch('/api/v1/pods?watch=1&fieldSelector=spec.nodeName%3Dn1');
    ask('POST', `${NAMESPACE}/pods`, { body: POD });
    ask('POST', `${NAMESPACE}/pods`, {
      body: {
        ...POD,
        metadata: { name: 'q' },
        spec: { ...(POD['spec'] as object), nodeName: 'n2' },
      },
    });
    ask('DELETE', `${NAMESPACE}/pods/p?gracePeriodSeconds=0`);
    await clock.advance(0);
    assert.deepEqual(summary(), ['ADDED p', 'MODIFIED p', 'DELETED p']);
  });

  it('renders tables, with columns in the first frame alone', async () => {
    const { create, watch, clock } = bench();
    create('a');
    const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io';
    const { frames } = watch(`${MAPS}?watch=1`, { accept });
    create('b');
    await clock.advance(0);
    assert.deepEqual(
      frames.map(({ object }) => Array.isArray(object['columnDefinitions'])),
      [true, false],
    );
    assert.deepEqual(
      frames.map(
        ({ object }) => (object['rows'] as readonly { cells: readonly unknown[] }[])[0]?.cells[0],
      ),
      ['a', 'b'],
    );
  });

  for (const [query, status] of [
    ['resourceVersion=x', 400],
    ['labelSelector=a%20b', 400],
    ['timeoutSeconds=x', 400],
  ] as const) {
    it(`answers ${String(status)} to ${query}`, () => {
      assert.equal(bench().ask('GET', `${MAPS}?watch=1&${query}`).status, status);
    });
  }
});
