/** One message on its way in: what every step of ingest is told about it. */
import type { ClusterRegistration } from '../../../core/model/registration.ts';
import type { WatcherMessage } from '../../../core/model/watcher-message.ts';
import type { Arrival } from './meta-transitions.ts';
import type { IngestContext } from './result.ts';

/** One message, its sender verified. */
export interface Incoming {
  readonly message: WatcherMessage;
  readonly context: IngestContext;
  readonly registration: ClusterRegistration;
}

/** The position of a message. */
export function arrivalOf(incoming: Pick<Incoming, 'message' | 'context'>): Arrival {
  const { sentAtMs, cutAgeMs } = incoming.context;
  return { header: incoming.message, sentAtMs, ...(cutAgeMs === undefined ? {} : { cutAgeMs }) };
}
