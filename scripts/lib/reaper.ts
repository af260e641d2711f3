/**
 * Makes sure that no child process outlives this one, however this one ends.
 *
 * A small shell, in a session of its own, is told each child's process id over a pipe. When the
 * pipe closes — normal end, crash, or SIGKILL by a test runner's time-out — it kills what is
 * still listed and removes the temporary directory, if one was given. Assumes a POSIX `sh`. It does not stop anything in order: that is the job of
 * the process that started the children, and of the listing being empty by then.
 */
import { spawn } from 'node:child_process';
import { Socket } from 'node:net';

const SCRIPT = `
trap '' INT TERM HUP
pids=' '
while read -r verb pid; do
  case "$verb" in
    add) pids="$pids$pid " ;;
    remove) pids="\${pids%% $pid *} \${pids#* $pid }" ;;
  esac
done
for pid in $pids; do kill -KILL "$pid" 2>/dev/null; done
if [ -n "$1" ]; then
  rm -rf -- "$1" 2>/dev/null || { sleep 1; rm -rf -- "$1"; }
fi
exit 0
`;

/** Keeps the list of child processes that must not survive. */
export interface Reaper {
  readonly add: (pid: number) => void;
  readonly remove: (pid: number) => void;
  /** Ends the reaper: kills whatever is still listed, removes the directory. */
  readonly close: () => Promise<void>;
}

/** Starts a reaper; `temporaryDirectory` goes when the children have gone. */
export function startReaper(options: { readonly temporaryDirectory?: string } = {}): Reaper {
  const shell = spawn('sh', ['-c', SCRIPT, 'reaper', options.temporaryDirectory ?? ''], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  const exited = new Promise<void>((resolve) => {
    shell.once('exit', () => {
      resolve();
    });
  });
  shell.stdin.on('error', () => {
    // The shell was killed from outside: children are then stopped by their owner alone.
  });
  shell.unref();
  // The pipe is a socket to Node; open, it must not keep the test process alive.
  if (shell.stdin instanceof Socket) shell.stdin.unref();
  return {
    add: (pid) => shell.stdin.write(`add ${String(pid)}\n`),
    remove: (pid) => shell.stdin.write(`remove ${String(pid)}\n`),
    close: async () => {
      shell.stdin.end();
      shell.ref();
      await exited;
    },
  };
}
