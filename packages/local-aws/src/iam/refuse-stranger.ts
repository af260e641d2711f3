// The answer to a request that no program of this machine means to send, the same of all servers here.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { whyNotLocal } from '@rollcall/base/system/local-caller.ts';

/** Refuses a request under a foreign name, or of a browser; whether it did. */
export function refuseStranger({ headers }: IncomingMessage, response: ServerResponse): boolean {
  const message = whyNotLocal(headers);
  if (message === undefined) return false;
  const text = JSON.stringify({ __type: 'AccessDeniedException', message });
  response
    .writeHead(403, {
      'Content-Type': 'application/x-amz-json-1.0',
      'Content-Length': Buffer.byteLength(text),
    })
    .end(text);
  return true;
}
