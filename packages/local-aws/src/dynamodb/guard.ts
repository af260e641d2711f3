// Puts the rights before the emulator: a request is read whole, judged, and only then given to dynalite.
//
// dynalite reads a request by its `data` and `end` events, so these are raised again for it. What is refused never
// reaches it. Without an authorizer nothing here runs.
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Authorizer } from '../iam/authorizer.ts';
import { refuseTableRequest } from './authorization.ts';

/** What the guard judges by. */
export interface TableGuard {
  readonly authorizer: Authorizer;
  /** The ARN of a table of this account. */
  readonly arnOf: (tableName: string) => string;
}

type RequestListener = (request: IncomingMessage, response: ServerResponse) => void;

/** Guards a server that has its one listener already, and does not listen yet. */
export function guardTables(server: Server, guard: TableGuard): void {
  const [emulator, ...others] = server.listeners('request') as RequestListener[];
  if (emulator === undefined || others.length > 0) throw new Error('dynalite has changed');
  server.removeAllListeners('request');
  server.on('request', (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks);
      const refusal = refuseTableRequest(guard.authorizer, {
        authorization: request.headers.authorization,
        name: operationOf(request),
        body: body.toString('utf8'),
        arnOf: guard.arnOf,
      });
      if (refusal !== undefined) {
        const text = JSON.stringify({ __type: refusal.type, Message: refusal.message });
        response.writeHead(400, { 'Content-Type': 'application/x-amz-json-1.0' }).end(text);
        return;
      }
      request.removeAllListeners('data').removeAllListeners('end');
      emulator(request, response);
      // Added by dynalite, which throws what it is told here: that a client hung up.
      request.removeAllListeners('error');
      if (body.length > 0) request.emit('data', body);
      request.emit('end');
    });
  });
}

function operationOf({ headers }: IncomingMessage): string {
  const target = headers['x-amz-target'];
  return typeof target === 'string' ? target.slice(target.indexOf('.') + 1) : '';
}
