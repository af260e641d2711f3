/**
 * Looks for the tools that some suites need (Go, a JDK, Maven, Python, Chromium) before they start.
 *
 * A missing or old tool must not look like a green run: with CI set in the environment it is an
 * error that carries the install line; elsewhere the suite is skipped, with the reason printed.
 * Assumes that tools are found on PATH. It installs nothing itself.
 */
import { spawnSync } from 'node:child_process';

/** What a suite needs: how to ask the tool for its version, and how to get it on Debian. */
export interface ToolRequirement {
  readonly name: string;
  /** Program and arguments that print a version and exit with 0 if the tool is usable. */
  readonly command: readonly [string, ...string[]];
  /** Finds the dotted version in what the command printed (first capture group). */
  readonly versionPattern: RegExp;
  readonly versionMin: string;
  readonly installLine: string;
}

/** Whether a tool can be used here, and if not, why and what to run. */
export type ToolResult =
  | { readonly status: 'present'; readonly version: string }
  | { readonly status: 'missing'; readonly reason: string; readonly installLine: string };

/** The toolchains that suites of this project may ask for. */
export const TOOLS = {
  go: {
    name: 'Go',
    command: ['go', 'env', 'GOVERSION'],
    versionPattern: /go(\d+(?:\.\d+)*)/,
    versionMin: '1.26',
    installLine:
      'apt-get install golang-go # Debian; must be 1.26 or newer, else use its backports',
  },
  java: {
    name: 'JDK',
    command: ['javac', '-version'],
    versionPattern: /javac (\d+(?:\.\d+)*)/,
    versionMin: '17',
    installLine: 'apt-get install openjdk-17-jdk-headless',
  },
  maven: {
    name: 'Maven',
    command: ['mvn', '--version'],
    versionPattern: /Apache Maven (\d+(?:\.\d+)*)/,
    versionMin: '3.6',
    installLine: 'apt-get install maven',
  },
  python: {
    name: 'Python with venv',
    command: [
      'python3',
      '-c',
      'import ensurepip, platform, venv; print(platform.python_version())',
    ],
    versionPattern: /^(\d+(?:\.\d+)*)/,
    versionMin: '3.9',
    installLine: 'apt-get install python3 python3-venv',
  },
  terraform: {
    name: 'Terraform',
    command: ['terraform', 'version'],
    versionPattern: /Terraform v(\d+(?:\.\d+)*)/,
    versionMin: '1.5',
    installLine:
      'install Terraform from HashiCorp: neither Debian nor a registry of packages has it',
  },
  apt: {
    name: 'apt',
    command: ['apt-get', '--version'],
    versionPattern: /apt (\d+(?:\.\d+)*)/,
    versionMin: '1.6',
    installLine: 'take Debian or Ubuntu: apt and dpkg are part of them',
  },
  buildah: {
    name: 'buildah',
    command: ['buildah', '--version'],
    versionPattern: /version (\d+(?:\.\d+)*)/,
    versionMin: '1.28',
    installLine: 'apt-get install --no-install-recommends buildah',
  },
  runc: {
    name: 'runc',
    command: ['runc', '--version'],
    versionPattern: /version (\d+(?:\.\d+)*)/,
    versionMin: '1.1',
    installLine: 'apt-get install --no-install-recommends runc',
  },
  chromium: {
    name: 'Chromium',
    command: ['chromium', '--version'],
    versionPattern: /Chromium (\d+(?:\.\d+)*)/,
    versionMin: '120',
    installLine: 'apt-get install --no-install-recommends chromium',
  },
} as const satisfies Record<string, ToolRequirement>;

/** Raised where CI is set and a tool is missing; the message holds the install line. */
export class MissingToolError extends Error {
  override readonly name = 'MissingToolError';
}

/** Compares dotted versions by number: negative, zero or positive, like a sort function. */
function compareVersions(left: string, right: string): number {
  const leftParts = left.split('.').map(Number);
  const rightParts = right.split('.').map(Number);
  for (let index = 0; index < Math.max(leftParts.length, rightParts.length); index += 1) {
    const difference = (leftParts[index] ?? 0) - (rightParts[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/**
 * Asks one tool for its version.
 *
 * @example const go = requireTool(TOOLS.go); // { status: 'present', version: '1.26.8' }
 */
export function requireTool(requirement: ToolRequirement): ToolResult {
  const { name, versionMin, installLine } = requirement;
  const missing = (reason: string): ToolResult => ({ status: 'missing', reason, installLine });
  const [program, ...commandArguments] = requirement.command;
  const outcome = spawnSync(program, commandArguments, { encoding: 'utf8', timeout: 60_000 });
  if (outcome.error) return missing(`${name} not found: ${outcome.error.message}`);
  if (outcome.status !== 0) {
    return missing(`${name} is not usable: \`${program}\` exits with ${String(outcome.status)}`);
  }
  const version = requirement.versionPattern.exec(`${outcome.stdout}${outcome.stderr}`)?.[1];
  if (version === undefined) return missing(`${name} does not say its version`);
  if (compareVersions(version, versionMin) < 0) {
    return missing(`${name} ${version} is older than ${versionMin}`);
  }
  return { status: 'present', version };
}

/**
 * Turns missing tools into the `skip` option of node:test: `false` if all are there, the reason
 * (also printed) if not. Throws {@link MissingToolError} instead where CI is set.
 *
 * @example test('against a real API server', { skip: skipWithoutTools([TOOLS.go]) }, …)
 */
export function skipWithoutTools(
  requirements: readonly ToolRequirement[],
  environment: NodeJS.ProcessEnv = process.env,
): string | false {
  const problems: string[] = [];
  for (const requirement of requirements) {
    const result = requireTool(requirement);
    if (result.status === 'missing') problems.push(`${result.reason}; run: ${result.installLine}`);
  }
  if (problems.length === 0) return false;
  const summary = problems.join(' | ');
  if (environment['CI'] !== undefined && environment['CI'] !== '') {
    throw new MissingToolError(`A tool that this suite needs is missing: ${summary}`);
  }
  process.stderr.write(`SKIP ${summary}\n`);
  return summary;
}
