/**
 * One of the two servers under comparison: sends a step, keeps what came back.
 *
 * Connections are kept; a watch has one of its own until it is read. It judges nothing.
 */
import { Agent, request as httpsRequest } from 'node:https';
import type { IncomingMessage } from 'node:http';
import type { Json } from '@rollcall/base/json.ts';
import type { ApiConnection } from '../control-plane/api.ts';
import type { TestActor } from '../control-plane/identities.ts';
import type { ServerMemory } from './memory.ts';
import type { Step } from './step.ts';

export interface Answer {
  readonly status: number;
  readonly warningsCount: number;
  readonly body: Json;
}

export interface OpenWatch {
  /** Lines so far, parsed. */
  readonly frames: readonly Json[];
  /** The server has ended the stream. */
  readonly hasEnded: () => boolean;
  /** When the last frame came, on performance.now(). */
  readonly lastFrameAtMs: () => number;
  readonly close: () => void;
}

export interface ComparedServer {
  readonly name: string;
  /** Sends the step with its references filled in; a watch that was accepted comes back open. */
  readonly send: (step: Step, memory: ServerMemory) => Promise<Answer | OpenWatch>;
  readonly close: () => void;
}

export function openServer(
  name: string,
  connectionOf: (actor: TestActor) => ApiConnection,
): ComparedServer {
  const agents = new Map<TestActor, Agent>();
  const agentOf = (actor: TestActor): Agent => {
    const known = agents.get(actor);
    if (known) return known;
    const agent = new Agent({ keepAlive: true, ca: connectionOf(actor).caPem });
    agents.set(actor, agent);
    return agent;
  };
  return {
    name,
    send: async (step, memory) => {
      const connection = connectionOf(step.actor);
      const message = await open({ step, memory, connection, agent: agentOf(step.actor) });
      const status = message.statusCode ?? 0;
      if (step.isWatch === true && status === 200) return follow(message);
      const answer = {
        status,
        warningsCount: message.rawHeaders.filter((header) => header.toLowerCase() === 'warning')
          .length,
        body: await readBody(message),
      };
      if (status < 300) memory.learn(step, answer.body);
      return answer;
    },
    close: () => {
      for (const agent of agents.values()) agent.destroy();
    },
  };
}

function open(parts: {
  readonly step: Step;
  readonly memory: ServerMemory;
  readonly connection: ApiConnection;
  readonly agent: Agent;
}): Promise<IncomingMessage> {
  const { step, memory, connection, agent } = parts;
  const value = memory.resolveBody(step);
  const body = value === undefined ? undefined : Buffer.from(JSON.stringify(value));
  const headers = {
    accept: step.accept ?? 'application/json',
    authorization: `Bearer ${connection.token ?? ''}`,
    ...(body === undefined
      ? {}
      : {
          'content-type': step.contentType ?? 'application/json',
          'content-length': body.length,
        }),
  };
  const url = new URL(memory.resolveText(step.path), connection.server);
  return new Promise((resolve, reject) => {
    const outgoing = httpsRequest(url, { method: step.method, agent, headers });
    outgoing.once('response', resolve);
    outgoing.once('error', reject);
    outgoing.end(body);
  });
}

async function readBody(message: IncomingMessage): Promise<Json> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString('utf8');
  try {
    return JSON.parse(text) as Json;
  } catch (error) {
    if (error instanceof SyntaxError) return text;
    throw error;
  }
}

function follow(message: IncomingMessage): OpenWatch {
  const frames: Json[] = [];
  let hasEnded = false;
  let lastFrameAtMs = performance.now();
  let rest = '';
  message.setEncoding('utf8');
  message.on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    frames.push(...lines.filter((line) => line !== '' && !isPeriodicBookmark(line)).map(parse));
    lastFrameAtMs = performance.now();
  });
  message.once('end', () => {
    hasEnded = true;
  });
  message.once('error', () => {
    // Closing a stream that is not at its end is an error to Node.
    hasEnded = true;
  });
  return {
    frames,
    hasEnded: () => hasEnded,
    lastFrameAtMs: () => lastFrameAtMs,
    close: () => {
      message.destroy();
    },
  };
}

/** The real server also sends bookmarks by time; only the one that ends initial events is certain to come. */
function isPeriodicBookmark(line: string): boolean {
  return line.startsWith('{"type":"BOOKMARK"') && !line.includes('k8s.io/initial-events-end');
}

function parse(line: string): Json {
  return JSON.parse(line) as Json;
}
