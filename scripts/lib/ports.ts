/**
 * Free loopback ports.
 *
 * A port is free when asked for and may be gone when used: a start that fails for that reason is
 * repeated with new ports by the server's starter.
 */
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';

/** Finds `count` different ports of 127.0.0.1 that no process listens on. */
export async function findFreePorts(count: number): Promise<number[]> {
  const servers: Server[] = [];
  try {
    for (let index = 0; index < count; index += 1) {
      const server = createServer().listen(0, '127.0.0.1');
      servers.push(server);
      await once(server, 'listening');
    }
    return servers.map(portOf);
  } finally {
    // All stay open until all are known: that makes the ports different.
    for (const server of servers) server.close();
  }
}

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('server has no port');
  return address.port;
}
