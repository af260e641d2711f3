/**
 * The command line and environment of the watcher's image, read from infra/watcher/Dockerfile: what is
 * measured is what is shipped. Knows of a Dockerfile only ENTRYPOINT and ENV.
 */
import { readFileSync } from 'node:fs';
import { repositoryPath } from '../scenarios/repository.ts';

export interface ShippedCommand {
  /** Flags of node, without the bundle. */
  readonly nodeFlags: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

/** Reads it. Throws when the file has another form. */
export function readShippedCommand(): ShippedCommand {
  const text = readFileSync(repositoryPath('infra/watcher/Dockerfile'), 'utf8');
  const joined = text.replaceAll(/\\\n\s*/g, ' ');
  const entryPoint = /^ENTRYPOINT (\[.*\])$/m.exec(joined)?.[1];
  const [program, ...rest] = JSON.parse(entryPoint ?? '[]') as string[];
  const bundle = rest.pop();
  if (program !== 'node' || bundle?.endsWith('.mjs') !== true) {
    throw new Error('infra/watcher/Dockerfile starts no bundle with node');
  }
  const settings = [...joined.matchAll(/^ENV (.*)$/gm)].flatMap(([, list = '']) => list.split(' '));
  const pairs = settings.filter((setting) => setting.includes('='));
  const environment = Object.fromEntries(
    pairs.map((setting) => setting.split('=', 2) as [string, string]),
  );
  return { nodeFlags: rest, environment };
}
