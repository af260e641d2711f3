/**
 * Spawns a real kubectl against a cluster, as somebody at a terminal would.
 *
 * Each client has a cache of its own, so that discovery is really asked for. The server may live in this process:
 * everything is asynchronous. A command that takes too long is killed, by its own process id.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';

export interface KubectlOutcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface KubectlOptions {
  /** Goes to stdin, for `-f -`. */
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** A kubectl bound to one cluster. */
export interface Kubectl {
  /** Runs a command line (split at spaces) or a list of arguments. */
  readonly run: (
    command: string | readonly string[],
    options?: KubectlOptions,
  ) => Promise<KubectlOutcome>;
  /** As `run`; throws with everything that was printed unless the command exits with 0. Resolves to stdout. */
  readonly succeed: (
    command: string | readonly string[],
    options?: KubectlOptions,
  ) => Promise<string>;
  /** Starts a command that goes on, such as `get -w`; `stop` ends it and resolves to what it printed. */
  readonly start: (command: string) => RunningKubectl;
}

export interface RunningKubectl {
  /** Resolves when what was printed so far matches. */
  readonly waitFor: (pattern: RegExp) => Promise<void>;
  readonly stop: () => Promise<string>;
}

/** Beyond any `--timeout` that a test gives, so that kubectl itself says what it waited for. */
const COMMAND_BOUND_MS = 240_000;
const WAIT_BOUND_MS = 120_000;

/** Binds a kubectl to a cluster. */
export function bindKubectl(parts: {
  readonly program: string;
  readonly kubeconfigPath: string;
  readonly cacheDirectory: string;
}): Kubectl {
  const open = (command: string | readonly string[], env: KubectlOptions['env']): ChildProcess =>
    spawn(parts.program, typeof command === 'string' ? command.split(' ') : [...command], {
      env: {
        ...process.env,
        KUBECONFIG: parts.kubeconfigPath,
        KUBECACHEDIR: parts.cacheDirectory,
        ...env,
      },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
  const run: Kubectl['run'] = async (command, { input = '', env = {} } = {}) => {
    const child = open(command, env);
    const stdout = collect(child.stdout);
    const stderr = collect(child.stderr);
    const bound = setTimeout(() => child.kill('SIGKILL'), COMMAND_BOUND_MS);
    child.stdin?.end(input);
    const [code] = (await once(child, 'close')) as [number | null];
    clearTimeout(bound);
    return { code, stdout: stdout.text(), stderr: stderr.text() };
  };
  return {
    run,
    succeed: async (command, options) => {
      const outcome = await run(command, options);
      if (outcome.code === 0) return outcome.stdout;
      const line = typeof command === 'string' ? command : command.join(' ');
      const end = outcome.code === null ? 'killed after its bound' : String(outcome.code);
      throw new Error(`kubectl ${line}: ${end}\n${outcome.stdout}${outcome.stderr}`);
    },
    start: (command) => follow(open(command, {}), command),
  };
}

function follow(child: ChildProcess, command: string): RunningKubectl {
  const stdout = collect(child.stdout);
  const stderr = collect(child.stderr);
  const closed = once(child, 'close');
  return {
    waitFor: async (pattern) => {
      const signal = AbortSignal.timeout(WAIT_BOUND_MS);
      try {
        while (!pattern.test(stdout.text())) {
          if (child.stdout === null) throw new Error('stdout is not piped');
          await once(child.stdout, 'data', { signal });
        }
      } catch (error) {
        const printed = `${stdout.text()}${stderr.text()}`;
        throw new Error(`kubectl ${command} never printed ${String(pattern)}:\n${printed}`, {
          cause: error,
        });
      }
    },
    stop: async () => {
      child.kill('SIGTERM');
      await closed;
      return stdout.text();
    },
  };
}

function collect(stream: NodeJS.ReadableStream | null): { readonly text: () => string } {
  const chunks: string[] = [];
  stream?.setEncoding('utf8');
  stream?.on('data', (chunk: string) => chunks.push(chunk));
  return { text: () => chunks.join('') };
}
