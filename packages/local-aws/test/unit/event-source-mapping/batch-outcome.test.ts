/** ReportBatchItemFailures: every kind of answer that Lambda distinguishes. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readBatchOutcome } from '../../../src/event-source-mapping/batch-outcome.ts';
import { sqsRecord } from './record-fixture.ts';

const records = ['1', '2', '3'].map((body) => sqsRecord(body, 'g'));
const all = ['1', '2', '3'];

function doneOf(answer: unknown, reports = true): string[] | string {
  const outcome = readBatchOutcome(answer, records, reports);
  return outcome.kind === 'answered' ? outcome.done.map((each) => each.body) : outcome.kind;
}

describe('the answer to a batch', () => {
  it('means success when it lists nothing', () => {
    const answers = [undefined, null, {}, { batchItemFailures: [] }, { batchItemFailures: null }];
    for (const answer of answers) assert.deepEqual(doneOf(answer), all, JSON.stringify(answer));
  });

  it('fails exactly the messages that it lists', () => {
    const answer = { batchItemFailures: [{ itemIdentifier: '2' }, { itemIdentifier: '3' }] };
    assert.deepEqual(doneOf(answer), ['1']);
  });

  it('fails the whole batch when it is malformed (row 24)', () => {
    const lists: unknown[] = [
      'no list',
      [{ itemIdentifier: '' }],
      [{ itemIdentifier: null }],
      [{}],
      [null],
      [{ itemIdentifier: '2' }, { itemIdentifier: 'unknown' }],
    ];
    for (const list of lists) {
      assert.equal(doneOf({ batchItemFailures: list }), 'malformed', JSON.stringify(list));
    }
    assert.equal(doneOf('text'), 'malformed');
  });

  it('is not looked at unless the mapping reports failures', () => {
    assert.deepEqual(doneOf({ batchItemFailures: [{ itemIdentifier: '2' }] }, false), all);
  });
});
