/** The journal on disk: what was flushed is there after a restart, a torn line is not, and history does not pile up. */
import assert from 'node:assert/strict';
import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { Broker } from '../../../../src/sqs/server/broker.ts';
import type { JournalEntry } from '../../../../src/sqs/queue/journal.ts';
import { JournalFile } from '../../../../src/server/journal-file.ts';
import { message } from '../queue-fixture.ts';

const nowMs = 1_000_000;
const name = 'work.fifo';

interface Opened {
  readonly broker: Broker;
  readonly journal: JournalFile<JournalEntry>;
}

function temporaryDirectory(context: TestContext): string {
  const directory = mkdtempSync(path.join(tmpdir(), 'rollcall-journal-'));
  context.after(() => {
    rmSync(directory, { recursive: true });
  });
  return directory;
}

function open(directory: string, salt: string): Opened {
  let idCount = 0;
  const late: { journal?: JournalFile<JournalEntry> } = {};
  const broker = new Broker({
    region: 'us-east-1',
    newMessageId: () => `${salt}-${String((idCount += 1))}`,
    handleSalt: salt,
    record: (entry) => late.journal?.record(entry),
  });
  const journal = JournalFile.open<JournalEntry>({
    ...{ directory, name: 'queues.ndjson' },
    replay: (entry) => {
      broker.replay(entry, nowMs);
    },
    currentFacts: () => broker.facts(nowMs),
  });
  late.journal = journal;
  return { broker, journal };
}

function bodiesOf({ broker }: Opened): string[] {
  return broker
    .queueNamed(name)
    .queue.receive({ countMax: 10 }, nowMs)
    .map((delivery) => delivery.message.body);
}

describe('the journal', () => {
  it('brings back queues, messages, receive counts and deduplication', (context) => {
    const directory = temporaryDirectory(context);
    const first = open(directory, 'a');
    const { queue } = first.broker.createQueue(name, { FifoQueue: 'true' }, nowMs);
    for (const body of ['1', '2', '3']) queue.send(message(body), nowMs);
    const [delivery] = queue.receive({ countMax: 1 }, nowMs);
    queue.delete(delivery?.receiptHandle ?? '', nowMs);
    queue.receive({ countMax: 1 }, nowMs);
    first.journal.flush();

    const second = open(directory, 'b');
    const restored = second.broker.queueNamed(name).queue;
    assert.equal(restored.send(message('1'), nowMs).isDuplicate, true);
    const deliveries = restored.receive({ countMax: 10 }, nowMs);
    assert.deepEqual(
      deliveries.map((each) => [each.message.body, each.message.receiveCount]),
      [
        ['2', 2],
        ['3', 1],
      ],
    );
    assert.throws(() => {
      restored.delete(delivery?.receiptHandle.replace('a-1', 'a-2') ?? '', nowMs);
    }, /expired/);
  });

  it('ignores the line that a kill cut short, and goes on behind the one before it', (context) => {
    const directory = temporaryDirectory(context);
    const first = open(directory, 'a');
    first.broker.createQueue(name, { FifoQueue: 'true' }, nowMs).queue.send(message('1'), nowMs);
    first.journal.close();
    const file = path.join(directory, 'queues.ndjson');
    const whole = readFileSync(file, 'utf8');
    appendFileSync(file, whole.slice(0, 25));

    const second = open(directory, 'b');
    second.broker.queueNamed(name).queue.send(message('2'), nowMs);
    second.journal.close();
    assert.deepEqual(bodiesOf(open(directory, 'c')), ['1', '2']);
  });

  it('says which line is damaged, and what to do about it', (context) => {
    const directory = temporaryDirectory(context);
    const first = open(directory, 'a');
    first.broker.createQueue(name, { FifoQueue: 'true' }, nowMs);
    first.journal.close();
    const file = path.join(directory, 'queues.ndjson');
    appendFileSync(file, 'no line of ours\n');
    const lines = readFileSync(file, 'utf8').split('\n').length - 1;
    const found = new RegExp(
      `queues\\.ndjson:${String(lines)} is damaged; remove the data directory`,
    );
    assert.throws(() => open(directory, 'b'), found);
  });

  it('forgets a dropped queue, and takes over changed attributes', (context) => {
    const directory = temporaryDirectory(context);
    const first = open(directory, 'a');
    const created = first.broker.createQueue(name, { FifoQueue: 'true' }, nowMs);
    first.broker.setAttributes(created, { VisibilityTimeout: '77' }, nowMs);
    first.broker.deleteQueue(first.broker.createQueue('gone', {}, nowMs));
    first.journal.close();
    const { broker } = open(directory, 'b');
    assert.equal(broker.queueNamed(name).queue.settings.visibilityTimeoutSeconds, 77);
    assert.throws(() => broker.queueNamed('gone'), /does not exist/);
  });

  it('rewrites itself while it runs, so that deleted messages take no room', (context) => {
    const directory = temporaryDirectory(context);
    const first = open(directory, 'a');
    const { queue } = first.broker.createQueue(name, { FifoQueue: 'true' }, nowMs);
    const large = 'x'.repeat(100_000);
    for (let index = 0; index < 100; index += 1) {
      queue.send(message(large, { deduplicationId: String(index) }), nowMs);
      const [delivery] = queue.receive({ countMax: 1 }, nowMs);
      queue.delete(delivery?.receiptHandle ?? '', nowMs);
      first.journal.flush();
    }
    queue.send(message('last'), nowMs);
    first.journal.close();
    assert.ok(statSync(path.join(directory, 'queues.ndjson')).size < 6_000_000);
    assert.deepEqual(bodiesOf(open(directory, 'b')), ['last']);
  });
});
