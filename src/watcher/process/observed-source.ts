/**
 * The API server and the queue as the watcher sees them, with every sign of life noted (vitals.ts).
 *
 * Changes nothing of what happens: answers, frames and rejections pass as they are. Bytes are what counts as
 * heard, as for the watcher itself; a stream that ends without a failure says nothing.
 */
import type { WatchedKind } from '../../core/model/projections.ts';
import type {
  SourceFailure,
  WatchFrame,
  WatchOptions,
  WatchSource,
} from '../../ports/cluster/watch-source.ts';
import type { Vitals } from './vitals.ts';
import type { EventQueue } from '../../ports/queues/queue.ts';

/** The same source, observed. */
export function observeSource(source: WatchSource, vitals: Vitals): WatchSource {
  const asked = async <T>(request: Promise<T>): Promise<T> => {
    vitals.noteRequested();
    try {
      return await request;
    } finally {
      vitals.noteRequested();
    }
  };
  return {
    getClusterUid: () => asked(source.getClusterUid()),
    listPage: async (kind, options) => {
      vitals.noteOpened(kind, options.continueToken === undefined);
      const answer = await source.listPage(kind, options);
      if (answer.kind === 'ok') vitals.noteHeard(kind);
      else vitals.noteEnded(kind, answer.failure);
      return answer;
    },
    watch: (kind, options) => observeStream({ source, vitals }, kind, options),
    readLease: async () => {
      const answer = await asked(source.readLease());
      vitals.noteLease(answer.kind === 'ok' ? undefined : answer.failure);
      return answer;
    },
    writeLease: async (lease) => {
      const answer = await asked(source.writeLease(lease));
      vitals.noteLease(writeFailure(answer));
      return answer;
    },
  };
}

async function* observeStream(
  { source, vitals }: { readonly source: WatchSource; readonly vitals: Vitals },
  kind: WatchedKind,
  options: WatchOptions,
): AsyncGenerator<WatchFrame> {
  vitals.noteOpened(kind, options.sendInitialEvents);
  const onBytes = (): void => {
    vitals.noteHeard(kind);
    options.onBytes();
  };
  let failure: SourceFailure | undefined;
  try {
    for await (const frame of source.watch(kind, { ...options, onBytes })) {
      if (frame.kind === 'failed') ({ failure } = frame);
      yield frame;
    }
  } finally {
    vitals.noteEnded(kind, failure);
  }
}

/** A conflict is an answer, too: the API server is there. */
function writeFailure(
  answer: Awaited<ReturnType<WatchSource['writeLease']>>,
): SourceFailure | undefined {
  if (answer.kind === 'failed') return answer.failure;
  return answer.kind === 'ambiguous' ? { kind: 'unavailable', message: answer.message } : undefined;
}

/** The same queue, with every try noted. */
export function observeQueue(queue: EventQueue, vitals: Vitals): EventQueue {
  return {
    freeze: (message) => queue.freeze(message),
    send: async (frozen, cutAgeMs) => {
      vitals.noteSending();
      const isAnnouncement = frozen.message.body.kind === 'announcement';
      try {
        const outcome = await queue.send(frozen, cutAgeMs);
        vitals.noteSent(outcome, isAnnouncement);
        return outcome;
      } catch (cause) {
        // The port says that this cannot be; the sender counts it as a bug and tries again.
        vitals.noteSent({ kind: 'ambiguous', message: 'the send rejected' }, isAnnouncement);
        throw cause;
      }
    },
  };
}
