/**
 * Runs one program and collects what it says.
 *
 * Assumes that PATH starts with node_modules/.bin, as the launcher sets it, so that `node` is Node 24 and the tools
 * are those of the lockfile. A program that cannot be started is an error; one that ends with another code than zero
 * is a result. It does not stream: a check's output is shown as a whole, so that two checks can run side by side.
 */
import { spawn } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** The repository that holds these scripts; where the tools are, whatever directory is being checked. */
export const repositoryRoot = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');

/** What a program left behind; `exitCode` is 128 or more if a signal ended it. */
export interface ToolResult {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A program, its arguments and the directory in which it runs. */
export interface ToolCall {
  readonly program: string;
  readonly parameters: readonly string[];
  readonly directory: string;
  /** Default: that of this process. */
  readonly environment?: Readonly<NodeJS.ProcessEnv>;
}

/** Runs a program to its end, without a shell. */
export function runTool(call: ToolCall): Promise<ToolResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(call.program, call.parameters, {
      cwd: call.directory,
      env: call.environment ?? process.env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk));
    child.on('error', (cause) => {
      reject(new Error(`cannot start ${call.program}`, { cause }));
    });
    child.on('close', (code) => {
      resolve({
        exitCode: code ?? 128,
        stdout: Buffer.concat(stdout).toString('utf8'),
        stderr: Buffer.concat(stderr).toString('utf8'),
      });
    });
  });
}

/** Runs a JavaScript tool of node_modules under the present Node: `node node_modules/<script> …`. */
export function runPackageScript(
  script: string,
  parameters: readonly string[],
  directory: string,
): Promise<ToolResult> {
  const file = path.join(repositoryRoot, 'node_modules', script);
  return runTool({ program: process.execPath, parameters: [file, ...parameters], directory });
}
