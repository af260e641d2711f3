/** serverless.yml as the local engine reads it, and what must hold between its parts. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { readService, type QueueDeclaration } from '@rollcall/local-aws/template/service.ts';

const serverlessFile = fileURLToPath(new URL('../../../serverless.yml', import.meta.url));
const service = readService(serverlessFile, 'test');

function queueWithId(id: string): QueueDeclaration {
  const queue = service.queues.find((each) => each.id === id);
  assert.ok(queue !== undefined, `no queue ${id}`);
  return queue;
}

describe('our serverless.yml', () => {
  it('declares the functions, queues and tables of the design', () => {
    assert.deepEqual(
      service.functions.map(({ name }) => name),
      ['ingest', 'reconcile', 'requeue', 'resync', 'fleet', 'credential', 'dead-letter'],
    );
    assert.deepEqual(service.queues.map(({ name }) => name).sort(), [
      'rollcall-test-credentials',
      'rollcall-test-credentials-dead-letter',
      'rollcall-test-delay',
      'rollcall-test-delay-dead-letter',
      'rollcall-test-events-dead-letter.fifo',
      'rollcall-test-events.fifo',
      'rollcall-test-reconcile-dead-letter.fifo',
      'rollcall-test-reconcile.fifo',
    ]);
    assert.deepEqual(
      service.tables.map(({ name }) => name),
      ['rollcall-test-registry', 'rollcall-test-view'],
    );
    assert.equal(service.environment['ROLLCALL_STAGE'], 'test');
    assert.deepEqual(service.environment['ROLLCALL_VIEW_TABLE'], { Ref: 'ViewTable' });
  });

  it('gives every queue a visibility of at least its function’s timeout, as Lambda demands', () => {
    for (const { name, timeoutMs, queueMappings } of service.functions) {
      for (const { queueId } of queueMappings) {
        const visibilityMs = Number(queueWithId(queueId).attributes['VisibilityTimeout']) * 1000;
        assert.ok(visibilityMs >= timeoutMs, `${name} on ${queueId}`);
      }
    }
  });

  it('keeps protocol rule 23: ingest ends in 10 s, throttling never exhausts receives', () => {
    const ingest = service.functions.find(({ name }) => name === 'ingest');
    assert.ok((ingest?.timeoutMs ?? Infinity) <= 10_000);
    const { attributes, redrive } = queueWithId('EventsQueue');
    assert.equal(redrive?.maxReceiveCount, 1000);
    assert.ok(Number(attributes['VisibilityTimeout']) <= 30, 'the lag after a crash');
  });

  it('gives every work queue a dead-letter queue of its kind, with a consumer', () => {
    const consumed = new Set(
      service.functions
        .filter(({ name }) => name === 'dead-letter')
        .flatMap(({ queueMappings }) => queueMappings.map(({ queueId }) => queueId)),
    );
    const workQueues = service.queues.filter(({ redrive }) => redrive !== undefined);
    assert.equal(workQueues.length, 4);
    for (const queue of workQueues) {
      const target = queueWithId(queue.redrive?.queueId ?? '');
      assert.equal(target.name.endsWith('.fifo'), queue.name.endsWith('.fifo'), queue.name);
      assert.ok(consumed.has(target.id), target.name);
    }
  });

  it('puts FIFO queues into high-throughput mode, and reports failures item by item', () => {
    for (const queue of service.queues.filter(({ name }) => name.endsWith('.fifo'))) {
      assert.equal(queue.attributes['DeduplicationScope'], 'messageGroup', queue.name);
      assert.equal(queue.attributes['FifoThroughputLimit'], 'perMessageGroupId', queue.name);
    }
    for (const mapping of service.functions.flatMap(({ queueMappings }) => queueMappings)) {
      assert.equal(mapping.reportsBatchItemFailures, true, mapping.queueId);
    }
  });
});
