/** The view store of an earlier commit, out of git history, beside the present one: for releases that are gone back to. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before } from 'node:test';
import { pathToFileURL } from 'node:url';
import { linkModules } from '../../scripts/lib/link-modules.ts';
import { repositoryRoot } from '../../scripts/lib/run-tool.ts';
import { createDynamoViewStore } from '../../src/adapters/dynamodb/view-store.ts';
import type { ViewStore } from '../../src/ports/stores/view-store.ts';
import { useKeyTables } from './key-tables.ts';
import { extractPrevious } from './previous-sources.ts';

const SOURCES = ['package.json', 'packages/base', 'src'];

/** Both stores over one table; there once the tests of a block run. */
export interface BothViewStores {
  readonly former: ViewStore;
  readonly present: ViewStore;
}

/** Takes the store of a commit out of history for the tests of this block; `missingPrevious` tells whether it is there. */
export function useFormerViewStore(commit: string): BothViewStores {
  const tables = useKeyTables('view');
  const both: { former?: ViewStore; present?: ViewStore } = {};
  let directory = '';

  before(async () => {
    directory = mkdtempSync(path.join(tmpdir(), 'rollcall-before-'));
    extractPrevious(SOURCES, directory, commit);
    linkModules(repositoryRoot, directory);
    const file = path.join(directory, 'src/adapters/dynamodb/view-store.ts');
    const stores = (await import(pathToFileURL(file).href)) as {
      createDynamoViewStore: typeof createDynamoViewStore;
    };
    both.former = stores.createDynamoViewStore(tables.of('view'));
    both.present = createDynamoViewStore(tables.of('view'));
  });

  after(() => {
    rmSync(directory, { recursive: true, force: true });
  });
  return both as BothViewStores; // as its docstring says
}
