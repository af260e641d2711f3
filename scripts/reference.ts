/** `npm run reference` writes the pages of docs/reference anew from the code; test/unit/docs/reference.test.ts fails while one is not current. */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { repositoryRoot } from './lib/run-tool.ts';
import { REFERENCE_FOLDER, renderPages } from './reference/pages.ts';

mkdirSync(path.join(repositoryRoot, REFERENCE_FOLDER), { recursive: true });
for (const [name, text] of Object.entries(await renderPages())) {
  writeFileSync(path.join(repositoryRoot, REFERENCE_FOLDER, name), text);
}
