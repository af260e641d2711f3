/**
 * How the events of one stream are cut and read: by the form in which the server writes them.
 *
 * Pods are asked for in protobuf and others in JSON (ADR 0075); what comes is what the answer's content type says, so that a server or a
 * proxy that has JSON alone is read as well. It knows nothing of what the events mean.
 */
import type { WatchedKind } from '../../../core/model/projections.ts';
import type { WatchFrame } from '../../../ports/cluster/watch-source.ts';
import { LengthSplitter, readEvent } from './protobuf-events.ts';
import { skimForeignPod } from './skim-pod.ts';
import { LineSplitter, parseWatchFrame } from './watch-frames.ts';

/** Reads one stream. */
export interface StreamEvents {
  /** Complete events, read before the next chunk comes; undefined when one is longer than any event can be. */
  split(chunk: Buffer): Buffer[] | undefined;
  /** One event as a frame. Never throws. */
  read(event: Buffer): WatchFrame;
}

/** For a stream in this form, of this kind. */
export function streamEvents(form: 'json' | 'protobuf', kind: WatchedKind): StreamEvents {
  if (form === 'protobuf') {
    const splitter = new LengthSplitter();
    return { split: (chunk) => splitter.split(chunk), read: readEvent };
  }
  const splitter = new LineSplitter();
  return {
    split: (chunk) => splitter.split(chunk),
    read: (line) => {
      const skimmed = kind === 'Pod' ? skimForeignPod(line) : undefined;
      return skimmed ?? parseWatchFrame(line.toString('utf8'));
    },
  };
}
