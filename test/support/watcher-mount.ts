/** What a pod of the watcher finds in its service account's directory, for a scripted API server, and the settings that say where. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** The files, and the settings of the watcher that name them. */
export interface WatcherMount {
  readonly settings: Readonly<Record<string, string>>;
  /** Takes the files away. */
  remove(): void;
}

/** Writes `ca.crt` and `token` for the server. */
export function mountWatcher(server: {
  readonly url: string;
  readonly caPem: string;
}): WatcherMount {
  const directory = mkdtempSync(path.join(tmpdir(), 'rollcall-watcher-'));
  const ca = path.join(directory, 'ca.crt');
  const token = path.join(directory, 'token');
  writeFileSync(ca, server.caPem);
  writeFileSync(token, 'a-token');
  return {
    settings: {
      ROLLCALL_API_SERVER: server.url,
      ROLLCALL_CA_FILE: ca,
      ROLLCALL_TOKEN_FILE: token,
    },
    remove: () => {
      rmSync(directory, { recursive: true });
    },
  };
}
