/**
 * The page on the server of `rollcall ui`, with its protection and its files, and with documents of a test in place of a stack:
 * for what no local stack can be brought to in seconds. Which orders it was given can be read.
 */
import { randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { COMMANDS } from '../../../src/cli/commands.ts';
import { EXIT } from '../../../src/cli/process/exit-codes.ts';
import type { Endpoint } from '../../../src/cli/ui/answer-request.ts';
import { apiCommands, type Given } from '../../../src/cli/ui/api-commands.ts';
import { loadPageFiles } from '../../../src/cli/ui/page-files.ts';
import { startUiServer } from '../../../src/cli/ui/server.ts';

/** Documents by the path of their command below `/api/v1/`. */
export type ScriptedDocuments = Readonly<Record<string, object>>;

/** An order that reached the server. */
export interface GivenOrder {
  readonly path: string;
  readonly given: Given;
}

/** It is served. */
export interface ScriptedPage {
  readonly origin: string;
  readonly token: string;
  /** With the token in its fragment. */
  readonly address: string;
  readonly orders: readonly GivenOrder[];
  /** Sends an event to every reader, and to later ones in place of the last of its name; resolves once it is taken. */
  readonly send: (name: string, document: object) => Promise<void>;
  /** Ends every stream. */
  readonly drop: () => void;
  readonly close: () => Promise<void>;
}

/** Serves it on a free port. */
export async function serveScripted(documents: ScriptedDocuments): Promise<ScriptedPage> {
  const token = randomBytes(32).toString('base64url');
  const orders: GivenOrder[] = [];
  const events = new ScriptedEvents();
  const commands = apiCommands(COMMANDS).map(({ path, method }) => {
    const run = (given: Given): ReturnType<CommandEndpoint['run']> => {
      if (method === 'POST') orders.push({ path, given });
      return Promise.resolve(answerWith(documents[path]));
    };
    return [path, { kind: 'command', method, run }] as const;
  });
  const endpoints = new Map<string, Endpoint>([
    ...commands,
    ['events', { kind: 'stream', open: events.open }],
  ]);
  const server = await startUiServer({ token, files: loadPageFiles, endpoints }, 0);
  const origin = `http://127.0.0.1:${String(server.port)}`;
  return {
    ...{ origin, token, orders },
    address: `${origin}/#token=${token}`,
    send: events.send,
    drop: events.drop,
    close: () => server.close(),
  };
}

type CommandEndpoint = Extract<Endpoint, { readonly kind: 'command' }>;

function answerWith(document: object | undefined): Awaited<ReturnType<CommandEndpoint['run']>> {
  if (document !== undefined)
    return { status: 200, exitCode: EXIT.ok, body: JSON.stringify(document) };
  const error = {
    kind: 'CommandError',
    message: 'The test has no such document.',
    remedy: '',
    exitCode: EXIT.failed,
  };
  return { status: 500, exitCode: EXIT.failed, body: JSON.stringify(error) };
}

/** Readers of the stream, and what they have to be told. */
class ScriptedEvents {
  readonly #readers = new Map<ServerResponse, () => void>();
  readonly #last = new Map<string, string>();
  #id = 0;

  readonly open: Extract<Endpoint, { readonly kind: 'stream' }>['open'] = async (
    response,
    { signal },
  ) => {
    response.flushHeaders();
    for (const text of this.#last.values()) response.write(text);
    await new Promise<void>((resolve) => {
      this.#readers.set(response, resolve);
      signal.addEventListener('abort', () => {
        resolve();
      });
    });
    this.#readers.delete(response);
  };

  readonly send = async (name: string, document: object): Promise<void> => {
    this.#id += 1;
    const text = `id: ${String(this.#id)}\nevent: ${name}\ndata: ${JSON.stringify(document)}\n\n`;
    this.#last.set(name, text);
    await Promise.all([...this.#readers.keys()].map((reader) => written(reader, text)));
  };

  readonly drop = (): void => {
    for (const end of this.#readers.values()) end();
  };
}

/** Resolves once the connection takes more, or is gone. */
function written(response: ServerResponse, text: string): Promise<void> {
  return new Promise((resolve) => {
    if (response.write(text)) {
      resolve();
      return;
    }
    const goOn = (): void => {
      response.off('drain', goOn).off('close', goOn);
      resolve();
    };
    response.on('drain', goOn).on('close', goOn);
  });
}
