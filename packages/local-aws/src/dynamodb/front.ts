// What stands before dynalite: a request is read whole and parsed once, judged by the sender's rights, and answered here where
// that can be (short-way.ts, batch-statements.ts). What is left is given to dynalite as it came.
//
// dynalite reads a request by its `data` and `end` events, so these are raised again for it. What is refused never
// reaches it. Without a guard nobody is refused.
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Authorizer } from '../iam/authorizer.ts';
import { refuseStranger } from '../iam/refuse-stranger.ts';
import { refuseTableRequest } from './authorization.ts';
import { askDynalite, doStatements, statementsOf } from './batch-statements.ts';
import { ShortWays } from './short-way.ts';
import type { Fields } from './short-way.ts';
import type { ItemStore } from './store.ts';

/** What requests are judged by. */
export interface TableGuard {
  readonly authorizer: Authorizer;
  /** The ARN of a table of this account. */
  readonly arnOf: (tableName: string) => string;
}

/** What the front works with. */
export interface FrontOptions {
  readonly store: ItemStore;
  readonly guard: TableGuard | undefined;
}

const STATEMENTS = 'BatchExecuteStatement';
const HEADERS = { 'Content-Type': 'application/x-amz-json-1.0' };

interface Request {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly body: Buffer;
}

/** Puts itself before a server that has its one listener already, and does not listen yet. */
export function standBefore(server: Server, options: FrontOptions): void {
  const [emulator, ...others] = server.listeners('request') as RequestListener[];
  if (emulator === undefined || others.length > 0) throw new Error('dynalite has changed');
  server.removeAllListeners('request');
  const front = new Front(emulator, options);
  server.on('request', (request, response) => {
    if (refuseStranger(request, response)) return;
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      front.take({ request, response, body: Buffer.concat(chunks) });
    });
  });
}

class Front {
  readonly #emulator: RequestListener;
  readonly #guard: TableGuard | undefined;
  readonly #shortWays: ShortWays;

  constructor(emulator: RequestListener, { store, guard }: FrontOptions) {
    this.#emulator = emulator;
    this.#guard = guard;
    this.#shortWays = new ShortWays(store);
  }

  take(given: Request): void {
    const { request, response, body } = given;
    const operation = operationOf(request);
    const fields = fieldsOf(body);
    if (this.#isRefused(given, operation, fields ?? {})) return;
    // dynalite tells who does not sign what is missing.
    const isShort = fields !== undefined && request.headers.authorization !== undefined;
    if (operation === STATEMENTS && fields !== undefined) {
      void doStatements(statementsOf(fields), {
        change: (change) => this.#shortWays.change(change),
        dynalite: (input) => askDynalite(this.#emulator, request, input),
      }).then((answer) => {
        send(response, answer);
      });
      return;
    }
    const way = isShort ? this.#shortWays.take(operation, fields) : ({ kind: 'long' } as const);
    if (way.kind === 'long') {
      this.#forward(given, way.form);
      return;
    }
    if (!(way.answer instanceof Promise)) {
      send(response, way.answer);
      return;
    }
    void way.answer.then((answer) => {
      if (answer === undefined) this.#forward(given);
      else send(response, answer);
    });
  }

  #isRefused({ request, response, body }: Request, name: string, fields: object): boolean {
    if (this.#guard === undefined) return false;
    const { authorizer, arnOf } = this.#guard;
    const { method, url, headers } = request;
    const accessKey = authorizer.signerOf({ method, url, headers, body });
    const refusal = refuseTableRequest(authorizer, { accessKey, name, fields, arnOf });
    if (refusal === undefined) return false;
    const text = JSON.stringify({ __type: refusal.type, Message: refusal.message });
    send(response, { status: 400, text });
    return true;
  }

  /** `form`: of a write; known once dynalite has done one. */
  #forward({ request, response, body }: Request, form?: string): void {
    if (form !== undefined) {
      response.once('finish', () => {
        if (response.statusCode === 200) this.#shortWays.accept(form);
      });
    }
    request.removeAllListeners('data').removeAllListeners('end');
    this.#emulator(request, response);
    // Added by dynalite, which throws what it is told here: that a client hung up.
    request.removeAllListeners('error');
    if (body.length > 0) request.emit('data', body);
    request.emit('end');
  }
}

function send(
  response: ServerResponse,
  { status, text }: { readonly status: number; readonly text: string },
): void {
  response.writeHead(status, { ...HEADERS, 'Content-Length': Buffer.byteLength(text) }).end(text);
}

/** The body as an object; undefined: it is none, which dynalite answers. */
function fieldsOf(body: Buffer): Fields | undefined {
  try {
    const parsed: unknown = JSON.parse(body.toString('utf8'));
    return typeof parsed === 'object' && parsed !== null ? (parsed as Fields) : undefined;
  } catch {
    // What is no JSON names no table.
    return undefined;
  }
}

function operationOf({ headers }: IncomingMessage): string {
  const target = headers['x-amz-target'];
  return typeof target === 'string' ? target.slice(target.indexOf('.') + 1) : '';
}
