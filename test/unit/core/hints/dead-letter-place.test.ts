/** Where the record of a dead letter is kept: by whose word, by time, and once an hour for what repeats (S6, L3). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  formatDeadLetterId,
  isSenderPartition,
  parseDeadLetterId,
  placeOfDeadLetter,
  timeKey,
} from '../../../../src/core/hints/dead-letter-place.ts';
import type { PlacedLetter } from '../../../../src/core/hints/dead-letter-place.ts';

const HOUR_MS = 3_600_000;
const AT_MS = Date.UTC(2026, 10, 21, 12, 34, 56);
const HOUR = String(Date.UTC(2026, 10, 21, 12)).padStart(15, '0');

function letter(fields: Partial<PlacedLetter> = {}): PlacedLetter {
  const base = { cluster: 'west', queue: 'reconcile', code: 'lost-hint', detail: '' };
  return { ...base, messageId: 'm-1', atMs: AT_MS, ...fields };
}

function forged(fields: Partial<PlacedLetter> = {}): PlacedLetter {
  const claim = { cluster: 'east', senderRoleId: 'AROA1' };
  return letter({ cluster: '', claim, queue: 'ingest', code: 'wrong-sender', ...fields });
}

describe('the partition of a dead letter', () => {
  it('is its cluster, or nobody’s where the name is none: no name forms another partition (S6)', () => {
    for (const id of ['west', 'W.e_s-t9', 'a'.repeat(100)])
      assert.equal(placeOfDeadLetter(letter({ cluster: id })).partition, id);
    const others = [
      '',
      '-west',
      'unverified/AROA1',
      'a/b',
      'a'.repeat(101),
      'west ',
      ' west',
      'w\n',
    ];
    for (const cluster of others)
      assert.equal(placeOfDeadLetter(letter({ cluster })).partition, '', JSON.stringify(cluster));
  });

  it('is that of the sender, where nobody vouches for it, whatever it claims (S6)', () => {
    assert.equal(placeOfDeadLetter(forged()).partition, 'unverified/AROA1');
    const claim = { cluster: 'west', senderRoleId: undefined };
    assert.equal(placeOfDeadLetter(forged({ claim })).partition, 'unverified/');
    assert.equal(isSenderPartition('unverified/AROA1'), true);
    for (const own of ['', 'west', 'west/unverified/']) assert.equal(isSenderPartition(own), false);
  });
});

describe('the place of a dead letter in its partition', () => {
  it('is one an hour for lost hints of one key: poison that is looked at again fills nothing (A.4)', () => {
    const lost = (fields: Partial<PlacedLetter>): string =>
      placeOfDeadLetter(letter({ detail: 'system/agents', ...fields })).sort;
    for (const queue of ['reconcile', 'delay']) {
      const sort = lost({ queue });
      assert.equal(sort, `${HOUR}#${queue}#lost-hint/system/agents`);
      assert.equal(lost({ queue, messageId: 'm-2', atMs: AT_MS + 60_000 }), sort);
      assert.notEqual(lost({ queue, atMs: AT_MS + HOUR_MS }), sort);
      assert.notEqual(lost({ queue, detail: 'system/other' }), sort);
    }
    assert.match(lost({ queue: 'events' }), /m-1$/);
  });

  it('is its time, queue and message: a repeat replaces it', () => {
    const { sort } = placeOfDeadLetter(letter());
    assert.equal(sort, `${timeKey(AT_MS)}#reconcile#m-1`);
    assert.equal(placeOfDeadLetter(letter({ code: 'invalid', detail: 'x' })).sort, sort);
    assert.notEqual(placeOfDeadLetter(letter({ atMs: AT_MS + 1 })).sort, sort);
  });

  it('is one an hour for a refusal that comes again with every message of a sender (L3)', () => {
    const repeating = [
      'wrong-group',
      'unknown-cluster',
      'not-bound-token',
      'wrong-sender',
      'wrong-cluster-uid',
    ];
    for (const queue of ['ingest', 'credentials']) {
      for (const code of repeating) {
        const { sort } = placeOfDeadLetter(forged({ queue, code }));
        assert.equal(sort, `${HOUR}#${queue}#${code}/east`);
        const later = forged({ queue, code, messageId: 'm-2', atMs: AT_MS + 60_000 });
        assert.equal(placeOfDeadLetter(later).sort, sort);
        const nextHour = forged({ queue, code, atMs: AT_MS + HOUR_MS });
        assert.notEqual(placeOfDeadLetter(nextHour).sort, sort);
      }
    }
    const uid = letter({ queue: 'ingest', code: 'wrong-cluster-uid', detail: 'uid-2' });
    assert.equal(placeOfDeadLetter(uid).sort, `${HOUR}#ingest#wrong-cluster-uid/uid-2`);
  });

  it('is one for each message of another queue or code', () => {
    for (const fields of [{ queue: 'reconcile' }, { code: 'oversized' }] as const) {
      const { sort } = placeOfDeadLetter(forged(fields));
      assert.ok(sort.startsWith(timeKey(AT_MS)), sort);
      assert.ok(sort.endsWith('#m-1'), sort);
    }
  });

  it('is printable and bounded, whatever the message was called', () => {
    const { sort } = placeOfDeadLetter(letter({ messageId: 'a\u0000 ü~!' }));
    assert.ok(sort.endsWith('#a???~!'), sort);
    const long = placeOfDeadLetter(letter({ messageId: 'm'.repeat(300) })).sort;
    assert.ok(long.endsWith(`#${'m'.repeat(256)}`), 'cut to 256 characters');
  });

  it('sorts by time, from the first moment on', () => {
    assert.equal(timeKey(0), '0'.repeat(15));
    assert.equal(timeKey(-1), '0'.repeat(15));
    assert.equal(timeKey(12.9), '000000000000012');
    assert.ok(timeKey(999) < timeKey(1000));
  });
});

describe('a place as one text', () => {
  it('is read back, with slashes in the partition and in the place', () => {
    for (const place of [letter(), forged(), letter({ cluster: '' })].map(placeOfDeadLetter)) {
      assert.deepEqual(parseDeadLetterId(formatDeadLetterId(place)), place);
    }
  });

  it('is none without a time of fifteen digits, or over several lines', () => {
    const id = formatDeadLetterId(placeOfDeadLetter(letter()));
    for (const text of [
      '',
      'west',
      id.replace('#', ''),
      `${id}\n`,
      `x\n${id}`,
      id.replace('/0', '/'),
    ])
      assert.equal(parseDeadLetterId(text), undefined, JSON.stringify(text));
  });
});
