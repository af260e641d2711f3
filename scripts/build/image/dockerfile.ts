/**
 * How the image is run, read from infra/watcher/Dockerfile, which builds the same on another base: ENTRYPOINT, ENV, LABEL
 * and USER, as far as that file writes them.
 */

/** In OCI's words. */
export interface ImageConfiguration {
  readonly User: string;
  readonly Env: readonly string[];
  readonly Entrypoint: readonly string[];
  readonly Labels: Readonly<Record<string, string>>;
}

/** Throws where one of them is missing. */
export function readDockerfile(text: string): ImageConfiguration {
  const joined = text.replaceAll(/^#.*\n/gm, '').replaceAll(/\\\n\s*/g, ' ');
  const instruction = (name: string): string => {
    const found = new RegExp(`^${name} (.*)$`, 'm').exec(joined)?.[1];
    if (found === undefined) throw new Error(`infra/watcher/Dockerfile has no ${name}`);
    return found;
  };
  const labels = [...instruction('LABEL').matchAll(/([\w.]+)="([^"]*)"/g)];
  return {
    User: instruction('USER'),
    Env: instruction('ENV').split(' '),
    Entrypoint: JSON.parse(instruction('ENTRYPOINT')) as string[],
    Labels: Object.fromEntries(labels.map(([, name = '', value = '']) => [name, value])),
  };
}
