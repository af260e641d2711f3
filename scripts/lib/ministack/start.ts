/**
 * Starts MiniStack on a loopback port, for functions that run under this process's Node.
 *
 * Its local executor takes `node` from PATH, whatever runtime a function declares, and hands its own environment on
 * to functions: so it gets a PATH that begins with this Node's directory, a TMPDIR of its own, what keeps HTTPS as it
 * is (keep-https.mjs), and nothing else of the caller's environment. Killed workers leave `ministack-lambda-*` in
 * TMPDIR: the caller removes the directory.
 */
import path from 'node:path';
import { createComponent, type Component } from '../component.ts';
import type { Reaper } from '../reaper.ts';

/** How to start it. */
export interface MiniStackOptions {
  /** From ensureMiniStack. */
  readonly python: string;
  readonly port: number;
  /** Exists, and goes with everything in it when MiniStack has stopped. */
  readonly temporaryDirectory: string;
  readonly logPath: string;
  readonly reaper: Reaper;
}

const HOST = '127.0.0.1';
const KEEP_HTTPS = new URL('keep-https.mjs', import.meta.url).href;

/** Starts it. It answers at `/_ministack/health` a moment later. */
export function startMiniStack(options: MiniStackOptions): Component {
  const { python, port, temporaryDirectory, logPath, reaper } = options;
  const searchPath = [path.dirname(process.execPath), process.env['PATH'] ?? ''];
  const component = createComponent({
    name: 'ministack',
    logPath,
    reaper,
    commandLine: () => [
      ...(['env', '-i'] as const),
      `PATH=${searchPath.join(path.delimiter)}`,
      `NODE_OPTIONS=--import=${KEEP_HTTPS}`,
      `TMPDIR=${temporaryDirectory}`,
      `HOME=${temporaryDirectory}`,
      `BIND_HOST=${HOST}`,
      `MINISTACK_HOST=${HOST}`,
      `GATEWAY_PORT=${String(port)}`,
      ...[python, '-m', 'ministack'],
    ],
  });
  component.start();
  return component;
}
