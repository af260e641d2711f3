/**
 * Whether a request to a server on 127.0.0.1 comes from a program of this machine that means it.
 *
 * A browser's page reaches loopback too: under a name that an attacker's DNS points there (DNS rebinding), or across origins. The port is not
 * compared: one that is forwarded is another. Which user asks this does not tell; keys and tokens do.
 */
import type { IncomingHttpHeaders } from 'node:http';

const LOOPBACK = /^(127\.0\.0\.1|localhost|\[::1\])(:\d{1,5})?$/i;
const SHOWN_CHARACTERS_MAX = 100;

/** Why a request is not answered, as a sentence; undefined: it is. */
export function whyNotLocal({ host = '', origin }: IncomingHttpHeaders): string | undefined {
  if (!LOOPBACK.test(host)) {
    const shown = host.slice(0, SHOWN_CHARACTERS_MAX);
    return `This server answers at 127.0.0.1, localhost and [::1] alone, not at "${shown}".`;
  }
  if (origin !== undefined)
    return 'This server does not answer browsers: the request has an Origin.';
  return undefined;
}
