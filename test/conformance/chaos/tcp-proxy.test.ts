/**
 * The links of the chaos suite, between a client and a server that echoes.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { openLink } from './tcp-proxy.ts';
import type { Link } from './tcp-proxy.ts';

describe('a link', () => {
  let server: Server;
  let heard = '';
  const heardMore = Promise.withResolvers<undefined>();

  before(async () => {
    server = createServer((socket) => {
      socket.on('data', (chunk) => {
        heard += chunk.toString();
        if (heard.includes('late')) heardMore.resolve(undefined);
        socket.write(chunk);
      });
      socket.on('error', () => undefined);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  after(() => {
    server.close();
  });

  async function open(): Promise<{ readonly link: Link; readonly client: Socket }> {
    const link = await openLink('test');
    link.leadTo((server.address() as AddressInfo).port);
    const client = connect({ port: link.port, host: '127.0.0.1' });
    client.on('error', () => undefined);
    await once(client, 'connect');
    assert.equal(await say(client, 'hello'), 'hello');
    return { link, client };
  }

  async function say(client: Socket, text: string): Promise<string> {
    client.write(text);
    const [answer] = (await once(client, 'data')) as [Buffer];
    return answer.toString();
  }

  async function held(link: Link): Promise<void> {
    while (link.counts().bytesHeld === 0) await turn();
  }

  it('carries both ways, and resets everything when it is dropped', async () => {
    const { link, client } = await open();
    link.cut('dropped');
    await once(client, 'close');
    const refused = connect({ port: link.port, host: '127.0.0.1' });
    refused.on('error', () => undefined);
    await once(refused, 'close');
    assert.equal(link.counts().connectionsReset, 2);
    await link.close();
  });

  it('delivers what was sent in silence once it is healed', async () => {
    const { link, client } = await open();
    link.cut('silent');
    const answer = say(client, 'anyone?');
    await held(link);
    link.heal();
    assert.equal(await answer, 'anyone?');
    client.destroy();
    await link.close();
  });

  it('forgets its connections', async () => {
    const { link, client } = await open();
    link.cut('forgotten');
    link.heal();
    await once(client, 'close');
    await link.close();
  });

  it('delivers a late request of a client that has given up', async () => {
    const { link, client } = await open();
    link.cut('late');
    client.write('late');
    await held(link);
    client.destroy();
    await once(client, 'close');
    link.heal();
    await heardMore.promise;
    await link.close();
  });
});
