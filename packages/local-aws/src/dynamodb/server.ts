// The DynamoDB emulator: dynalite in this process, on a loopback port, in memory or on disk.
//
// Assumes what Rollcall promises to use: single-item conditional writes, by themselves or as updates of one
// BatchExecuteStatement (batch-statements.ts), GetItem, Query and BatchGetItem. dynalite has no transactions, no streams, no time to live, and gives no item with a failed condition; nothing here adds
// them. What is asked most takes a short way past it, over the same items (front.ts). On disk it is LevelDB without sync: it survives a kill of the process, not a power cut, and only one process
// may hold the directory. dynalite throws from its callbacks when a client hangs up or when the database closes
// under a request: both would end this process, so hang-ups are ignored and requests end before the database does.
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { standBefore, type TableGuard } from './front.ts';
import { openDynalite } from './store.ts';

/** How the DynamoDB emulator is set up. */
export interface DynamoDbServerOptions {
  /** Where tables survive a kill; in memory if absent. Its parent must exist. */
  readonly dataDirectory?: string | undefined;
  /** Who may do what; everybody everything if absent. */
  readonly guard?: TableGuard | undefined;
  readonly port?: number;
}

/** A running DynamoDB emulator. */
export interface DynamoDbServer {
  readonly endpoint: string;
  stop(): Promise<void>;
}

/** Starts dynalite on a loopback port. */
export async function startDynamoDbServer(
  options: DynamoDbServerOptions = {},
): Promise<DynamoDbServer> {
  const { dataDirectory } = options;
  const { server, store } = openDynalite({
    createTableMs: 0,
    deleteTableMs: 0,
    updateTableMs: 0,
    ...(dataDirectory !== undefined && { path: dataDirectory }),
  });
  standBefore(server, { store, guard: options.guard });
  server.keepAliveTimeout = 0;
  server.requestTimeout = 0;
  const requests = countRequests(server);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port ?? 0, '127.0.0.1', () => {
      server.off('error', reject);
      resolve();
    });
  });
  const { port } = server.address() as AddressInfo;
  let stopped: Promise<void> | undefined;
  const stop = (): Promise<void> => (stopped ??= stopServer(server, requests));
  return { endpoint: `http://127.0.0.1:${port}`, stop };
}

interface RequestCount {
  running: number;
  onIdle: (() => void) | undefined;
}

function countRequests(server: Server): RequestCount {
  const requests: RequestCount = { running: 0, onIdle: undefined };
  server.on('request', (request, response) => {
    // Added after dynalite's own listener, which throws what it is told here: that a client hung up.
    request.removeAllListeners('error');
    // Refused at once (front.ts).
    if (response.writableEnded) return;
    requests.running += 1;
    // `end` is called by dynalite when the work is done, even if nobody listens any more; `close` may come earlier.
    const end = response.end.bind(response) as (...parameters: unknown[]) => typeof response;
    response.end = (...parameters: unknown[]) => {
      requests.running -= 1;
      if (requests.running === 0) requests.onIdle?.();
      return end(...parameters);
    };
    // A request that was never whole is never answered.
    request.on('close', () => {
      if (request.complete || response.writableEnded) return;
      requests.running -= 1;
      if (requests.running === 0) requests.onIdle?.();
    });
  });
  return requests;
}

async function stopServer(server: Server, requests: RequestCount): Promise<void> {
  const closed = new Promise<void>((resolve, reject) => {
    const finish = (): void => {
      server.close((error) => {
        if (error === undefined || error === null) resolve();
        else reject(error);
      });
      server.closeAllConnections();
    };
    if (requests.running === 0) finish();
    else requests.onIdle = () => setImmediate(finish);
  });
  await closed;
}
