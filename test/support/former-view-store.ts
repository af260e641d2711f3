/** The view store of an earlier commit, out of git history, over the tables of a test: for releases that are gone back to. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { linkModules } from '../../scripts/lib/link-modules.ts';
import { repositoryRoot } from '../../scripts/lib/run-tool.ts';
import type { createDynamoViewStore } from '../../src/adapters/dynamodb/view-store.ts';
import type { ViewStore } from '../../src/ports/stores/view-store.ts';
import { extractPrevious } from './previous-sources.ts';

const SOURCES = ['package.json', 'packages/base', 'src'];

/** That commit's own store, and where its sources lie until `remove`. */
export interface FormerViewStore {
  readonly view: ViewStore;
  remove(): void;
}

/** Takes the store out of history; `missingPrevious` tells whether it is there. */
export async function formerViewStore(
  commit: string,
  options: Parameters<typeof createDynamoViewStore>[0],
): Promise<FormerViewStore> {
  const directory = mkdtempSync(path.join(tmpdir(), 'rollcall-before-'));
  extractPrevious(SOURCES, directory, commit);
  linkModules(repositoryRoot, directory);
  const file = path.join(directory, 'src/adapters/dynamodb/view-store.ts');
  const stores = (await import(pathToFileURL(file).href)) as {
    createDynamoViewStore: typeof createDynamoViewStore;
  };
  return {
    view: stores.createDynamoViewStore(options),
    remove: () => {
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
