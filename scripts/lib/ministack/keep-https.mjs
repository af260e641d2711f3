/**
 * Keeps HTTPS as it is in functions that MiniStack runs: preloaded into its Node workers by NODE_OPTIONS.
 *
 * MiniStack replaces `https.request` in a worker by a function that speaks plain HTTP to every server on loopback,
 * which suits itself alone: the API server of a local cluster demands TLS. Its assignment has no effect on a property
 * that cannot be written. The AWS SDK needs no replacement: it goes where AWS_ENDPOINT_URL says.
 */
import https from 'node:https';

Object.defineProperty(https, 'request', { value: https.request, writable: false });
Object.defineProperty(https, 'get', { value: https.get, writable: false });
