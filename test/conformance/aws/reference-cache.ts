/**
 * Installs ElasticMQ and DynamoDB Local on demand, once per machine, into the cache directory.
 *
 * Both come by Maven into one directory; the pom names exact versions. MiniStack, which `npm run deploy:local` needs
 * too, is installed by scripts/lib/ministack.
 */
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  ensureInstalled,
  runDownloader,
  runInstaller,
} from '../../../scripts/lib/install-cache.ts';

const here = path.dirname(fileURLToPath(import.meta.url));
const javaDirectory = path.join(here, 'java');

/** Where the Java servers are: a class path. */
export interface JavaServers {
  readonly classPath: string;
  /** Holds the native library of DynamoDB Local. */
  readonly libraryDirectory: string;
}

/** ElasticMQ and DynamoDB Local, installed if they were not. */
export async function ensureJavaServers(): Promise<JavaServers> {
  const pom = path.join(javaDirectory, 'pom.xml');
  const source = path.join(javaDirectory, 'DynamoDbLoopback.java');
  const directory = await ensureInstalled({
    name: 'aws-java',
    recipes: [pom, source],
    install: async (target) => {
      const library = path.join(target, 'lib');
      await runDownloader('mvn', [
        ...['-B', '-q', '-f', pom, 'dependency:copy-dependencies'],
        ...[`-DoutputDirectory=${library}`, '-DincludeScope=runtime'],
      ]);
      const classes = path.join(target, 'classes');
      await runInstaller('javac', ['-cp', `${library}/*`, '-d', classes, source]);
    },
  });
  const libraryDirectory = path.join(directory, 'lib');
  const classPath = `${path.join(directory, 'classes')}${path.delimiter}${libraryDirectory}/*`;
  return { classPath, libraryDirectory };
}
