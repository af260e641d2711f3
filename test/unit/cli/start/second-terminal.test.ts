/** The file for a second terminal: outputs as a deployed stack would tell them. A shell reads it in test/integration/cli. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { outputsOf } from '../../../../src/cli/start/second-terminal.ts';
import { STACK_OUTPUT_NAMES } from '../../../../src/cli/reach/stack.ts';

describe('the outputs of npm start', () => {
  it('name queues and tables by their logical ids, and leave none out', () => {
    const outputs = outputsOf({
      queueUrls: { ReconcileQueue: 'http://127.0.0.1:1/q', EventsDeadLetterQueue: 'http://d' },
      tableNames: { ViewTable: 'rollcall-local-view' },
    });
    assert.equal(outputs['ReconcileQueueUrl'], 'http://127.0.0.1:1/q');
    assert.equal(outputs['EventsDeadLetterQueueUrl'], 'http://d');
    assert.equal(outputs['ViewTableName'], 'rollcall-local-view');
    assert.deepEqual(Object.keys(outputs), [...STACK_OUTPUT_NAMES]);
    assert.ok(Object.values(outputs).every((value) => value !== ''));
  });
});
