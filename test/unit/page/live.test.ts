/** The stream of events: what of it is kept, how old it is, and what is said when it ends. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ToldEntry } from '../../../src/page/model/documents.ts';
import {
  ageOf,
  ageText,
  connectionNotice,
  durationText,
} from '../../../src/page/model/freshness.ts';
import type { Freshness } from '../../../src/page/model/freshness.ts';
import {
  ENTRIES_MAX,
  NOTHING_LIVE,
  liveEventOf,
  reduceLive,
} from '../../../src/page/model/live-state.ts';
import type { LiveEvent, LiveState } from '../../../src/page/model/live-state.ts';
import { parseStream } from '../../../src/page/model/parse-stream.ts';
import { SMALL_MAP } from './small-map.ts';

function after(events: readonly LiveEvent[], state: LiveState = NOTHING_LIVE): LiveState {
  return events.reduce(reduceLive, state);
}

function entry(atMs: number): ToldEntry {
  return { kind: 'wait', atMs, code: 'quota', subject: { kind: 'stack' }, text: 'waits: quota' };
}

describe('a stream of events', () => {
  it('is cut into events, and keeps what is under way', () => {
    const text = 'id: 7\nevent: look\ndata: {"a":1}\n\n: ping\n\ndata: x\ndata: y\n\nevent: no';
    assert.deepEqual(parseStream(text), {
      events: [
        { name: 'look', id: '7', data: '{"a":1}' },
        { name: 'message', data: 'x\ny' },
      ],
      rest: 'event: no',
    });
  });

  it('may break lines as Windows does', () => {
    assert.equal(parseStream('event: log\r\ndata: 1\r\n\r\n').events[0]?.name, 'log');
  });

  it('passes over events of a newer server', () => {
    assert.equal(liveEventOf({ name: 'weather', data: '{}' }, 1), undefined);
  });

  for (const name of ['status', 'nodes', 'rollouts', 'fleets', 'log', 'trouble', 'look']) {
    it(`knows ${name}`, () => {
      assert.equal(liveEventOf({ name, data: '{"entries":[]}' }, 1)?.kind, name);
    });
  }
});

describe('the live state', () => {
  it('keeps a bounded number of entries, the newest', () => {
    const entries = Array.from({ length: ENTRIES_MAX + 20 }, (_, place) => entry(place));
    const state = after([{ kind: 'log', entries }]);
    assert.equal(state.entries.length, ENTRIES_MAX);
    assert.equal(state.entries.at(-1)?.atMs, ENTRIES_MAX + 19);
  });

  it('keeps the map while the stream is lost, with its age', () => {
    const state = after([
      { kind: 'nodes', map: SMALL_MAP },
      { kind: 'look', atMs: 5_000, nextInMs: 2_000 },
      { kind: 'closed', why: 'the server ended it' },
    ]);
    assert.equal(state.map, SMALL_MAP);
    assert.equal(state.lookAtMs, 5_000);
    assert.equal(state.connection, 'closed');
  });

  it('ends a trouble with the next look', () => {
    const trouble = { kind: 'trouble', error: { message: 'no table', remedy: '' } } as const;
    assert.equal(after([trouble]).trouble?.message, 'no table');
    assert.equal(after([trouble, { kind: 'look', atMs: 1, nextInMs: 0 }]).trouble, undefined);
  });
});

describe('the age of what is shown', () => {
  const open: Freshness = { connection: 'open', lookAtMs: 10_000, nextInMs: 2_000 };

  it('is fresh until a look is missed by a quarter of a minute', () => {
    assert.deepEqual(ageOf(open, 12_000), { kind: 'fresh', ageMs: 2_000 });
    assert.equal(ageOf(open, 27_900).kind, 'fresh');
    assert.equal(ageOf(open, 28_100).kind, 'late');
  });

  it('allows the pause that a slow server takes', () => {
    assert.equal(ageOf({ ...open, nextInMs: 60_000 }, 80_000).kind, 'fresh');
  });

  it('is late at once where the token is not taken', () => {
    assert.equal(ageOf({ ...open, connection: 'refused' }, 10_001).kind, 'late');
  });

  it('waits for the first look', () => {
    assert.equal(ageText(ageOf({ connection: 'connecting' }, 0)), 'waiting for the first look');
  });

  it('is told in one unit', () => {
    const texts = [3_400, 99_000, 240_000, 7_200_000, 300_000_000].map(durationText);
    assert.deepEqual(texts, ['3 s', '99 s', '4 min', '2 h', '3 d']);
  });
});

describe('the line above the page', () => {
  const open: Freshness = { connection: 'open', lookAtMs: 10_000, nextInMs: 2_000 };
  const told = (freshness: Freshness, nowMs: number): string | undefined =>
    connectionNotice(freshness, ageOf(freshness, nowMs))?.text;

  it('is absent while all is of now', () => {
    assert.equal(told(open, 11_000), undefined);
  });

  it('says that the connection is lost, and how old what is shown is', () => {
    const text = told({ ...open, connection: 'closed', closedWhy: 'network error' }, 14_000);
    assert.equal(
      text,
      'The connection to rollcall ui is lost (network error). What is shown is 4 s old.',
    );
  });

  it('says that no node counts as well once it is late', () => {
    assert.match(told({ ...open, connection: 'closed' }, 60_000) ?? '', /No node counts as well/);
    assert.match(told(open, 60_000) ?? '', /tells nothing new.*50 s old/);
  });

  it('says why a look failed', () => {
    const trouble = { message: 'The table does not answer.', remedy: 'Look at AWS.' };
    assert.match(told({ ...open, trouble }, 11_000) ?? '', /The table does not answer\..* 1 s old/);
  });

  it('says that the token is refused', () => {
    assert.match(told({ connection: 'refused' }, 0) ?? '', /refuses this page/);
  });
});
