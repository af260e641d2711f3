/**
 * The names of all contexts of a kubeconfig, in its order.
 *
 * Nothing is opened: no file that it names is read, no program run.
 */
import { readFile } from 'node:fs/promises';
import * as v from 'valibot';
import { parse } from 'yaml';
import { kubeconfigSchema } from '../../adapters/kubernetes/kubeconfig-schema.ts';
import { CommandError, EXIT } from '../exit-codes.ts';

const ALIASES_MAX = 100;

/** Reads the names. Throws CommandError when the file is no kubeconfig. */
export async function loadKubeconfigContexts(file: string): Promise<readonly string[]> {
  let document: unknown;
  try {
    document = parse(await readFile(file, 'utf8'), {
      maxAliasCount: ALIASES_MAX,
      logLevel: 'error',
    });
  } catch {
    // The parser's message would quote the file, which holds credentials.
    throw refuse(file, 'it cannot be read');
  }
  const parsed = v.safeParse(kubeconfigSchema, document, { abortEarly: true });
  if (parsed.success) return parsed.output.contexts.map(({ name }) => name);
  throw refuse(file, 'it is no kubeconfig');
}

function refuse(file: string, why: string): CommandError {
  return new CommandError({
    message: `${file} cannot be used: ${why}.`,
    remedy: 'Try `kubectl --kubeconfig FILE config get-contexts` with the same file.',
    exitCode: EXIT.usage,
  });
}
