/**
 * Words of the kubelet's messages: durations as Go writes them, runtime errors without their gRPC frame.
 *
 * Pure. Users match on these texts, so they follow the release letter by letter.
 */
import { RuntimeError } from '../../../runtime/cri.ts';

const GRPC_FRAME = /^rpc error: code = \w+ desc = /;

/** `340ms`, `1.5s`, `10s`, `1m20s`, `5m0s`. */
export function goDuration(durationMs: number): string {
  const roundMs = Math.round(durationMs);
  if (roundMs < 1000) return roundMs <= 0 ? '0s' : `${roundMs}ms`;
  const hours = Math.floor(roundMs / 3_600_000);
  const minutes = Math.floor((roundMs % 3_600_000) / 60_000);
  const seconds = (roundMs % 60_000) / 1000;
  const tail = `${seconds}s`;
  if (hours > 0) return `${hours}h${minutes}m${tail}`;
  return minutes > 0 ? `${minutes}m${tail}` : tail;
}

/** What the runtime said, without the frame that gRPC puts around it. */
export function runtimeMessage(error: RuntimeError): string {
  return error.message.replace(GRPC_FRAME, '');
}

/** A refusal of the runtime as a value; anything else is a bug and goes on. */
export function asRuntimeError(error: unknown): RuntimeError {
  if (error instanceof RuntimeError) return error;
  throw error;
}
