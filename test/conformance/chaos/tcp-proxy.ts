/**
 * A TCP proxy of ours between two parties, so that they can be cut off from each other.
 *
 *   dropped    connections are reset, new ones too: the peer's host is up, the port is shut
 *   silent     nothing arrives in either direction; a connection that both ends kept goes on afterwards,
 *              as TCP's retransmission does. What a party gave up meanwhile is lost with its connection
 *   forgotten  as silent, but no connection survives: a middle box lost its table
 *   late       what the client sends is held back, and arrives even if the client has given up: the
 *              request that was stuck in a load balancer (row 78). Answers pass
 *
 * It reads while it holds back, to notice who gives up. It knows nothing of what it carries.
 */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** How two parties are cut off from each other. */
export type CutKind = 'dropped' | 'silent' | 'forgotten' | 'late';

/** What a proxy did during cuts, counted since it began: the evidence that a cut was felt (M1). */
export interface LinkCounts {
  readonly connectionsReset: number;
  readonly bytesHeld: number;
}

export interface Link {
  readonly name: string;
  /** Where the client connects to, on 127.0.0.1. */
  readonly port: number;
  /** Where it leads from now on; connections that are open stay where they are. */
  readonly leadTo: (port: number) => void;
  readonly cut: (how: CutKind) => void;
  readonly heal: () => void;
  readonly counts: () => LinkCounts;
  readonly close: () => Promise<void>;
}

interface State {
  target: number | undefined;
  cut: CutKind | undefined;
  connectionsReset: number;
  bytesHeld: number;
}

/** How long a late request's connection to the server stays open for the answer nobody waits for. */
const LATE_ANSWER_MS = 5_000;

export async function openLink(name: string): Promise<Link> {
  const state: State = { target: undefined, cut: undefined, connectionsReset: 0, bytesHeld: 0 };
  const pairs = new Set<Pair>();
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
    const pair = new Pair(client, state);
    pairs.add(pair);
    pair.onEnd = () => pairs.delete(pair);
    pair.begin();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    name,
    port: (server.address() as AddressInfo).port,
    leadTo: (port) => {
      state.target = port;
    },
    cut: (how) => {
      state.cut = how;
      if (how === 'dropped') for (const pair of [...pairs]) pair.reset();
    },
    heal: () => {
      const { cut } = state;
      state.cut = undefined;
      for (const pair of [...pairs]) {
        if (cut === 'forgotten') pair.reset();
        else pair.release();
      }
    },
    counts: () => ({ connectionsReset: state.connectionsReset, bytesHeld: state.bytesHeld }),
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      for (const pair of [...pairs]) pair.reset();
      await closed;
    },
  };
}

interface HeldChunk {
  readonly towards: 'server' | 'client';
  readonly chunk: Buffer;
}

/** One connection of the client with its counterpart to the server. */
class Pair {
  readonly #client: Socket;
  readonly #state: State;
  #server: Socket | undefined;
  #held: HeldChunk[] = [];
  #isClientGone = false;
  #isOver = false;
  onEnd: () => void = () => undefined;

  constructor(client: Socket, state: State) {
    this.#client = client;
    this.#state = state;
  }

  begin(): void {
    const client = this.#client;
    client.on('data', (chunk: Buffer) => {
      this.#carry('server', chunk);
    });
    client.on('end', () => {
      this.#clientEnded();
    });
    client.on('close', () => {
      this.#clientEnded();
    });
    client.on('error', () => {
      this.#clientEnded();
    });
    const { cut } = this.#state;
    if (cut === 'dropped') this.reset();
    else if (cut === undefined || cut === 'late') this.#connect();
  }

  /** Ends both sides without farewell. */
  reset(): void {
    if (this.#isOver) return;
    this.#state.connectionsReset += 1;
    this.#end();
  }

  /** The cut is over: what was held goes on, if anybody is left. */
  release(): void {
    if (this.#isOver) return;
    if (this.#server === undefined && !this.#isClientGone) this.#connect();
    const held = this.#held;
    this.#held = [];
    for (const { towards, chunk } of held) this.#write(towards, chunk);
    if (this.#isClientGone) setTimeout(() => this.#end(), LATE_ANSWER_MS).unref();
  }

  #connect(): void {
    const { target } = this.#state;
    if (target === undefined) {
      this.#end();
      return;
    }
    const server = connect({ port: target, host: '127.0.0.1', noDelay: true });
    this.#server = server;
    server.on('data', (chunk: Buffer) => {
      this.#carry('client', chunk);
    });
    server.on('end', () => {
      if (this.#state.cut === undefined) this.#client.end();
    });
    server.on('error', () => {
      this.#serverEnded();
    });
    server.on('close', () => {
      this.#serverEnded();
    });
  }

  #carry(towards: HeldChunk['towards'], chunk: Buffer): void {
    const { cut } = this.#state;
    const isHeld =
      cut === 'silent' || cut === 'forgotten' || (cut === 'late' && towards === 'server');
    if (!isHeld) {
      this.#write(towards, chunk);
      return;
    }
    this.#state.bytesHeld += chunk.length;
    this.#held.push({ towards, chunk });
  }

  #write(towards: HeldChunk['towards'], chunk: Buffer): void {
    const [source, sink] =
      towards === 'server' ? [this.#client, this.#server] : [this.#server, this.#client];
    if (sink === undefined || sink.destroyed || sink.writableEnded) return;
    if (sink.write(chunk) || source === undefined) return;
    source.pause();
    sink.once('drain', () => {
      source.resume();
    });
  }

  #clientEnded(): void {
    if (this.#isClientGone) return;
    this.#isClientGone = true;
    // Late requests outlive their client; whatever else was on its way is lost with it.
    if (this.#state.cut === 'late' && this.#held.length > 0) return;
    if (this.#state.cut === undefined) this.#server?.end();
    if (this.#state.cut !== undefined || this.#server === undefined) this.#end();
  }

  #serverEnded(): void {
    // While nothing gets through, the client cannot know.
    if (this.#state.cut === 'silent' || this.#state.cut === 'forgotten') return;
    this.#end();
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#client.destroy();
    this.#server?.destroy();
    this.onEnd();
  }
}
