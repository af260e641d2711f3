/** One look for every viewer of the page: the documents of `status`, `get` and `log`, from one reading of the tables. */
import { createProcessCache } from '../../app/reconcile/process/process-cache.ts';
import { openLogNews } from '../log/log-command.ts';
import type { Stack } from '../reach/stack.ts';
import { sourcesOf } from '../rollout/rollout-sources.ts';
import { printFleets, printRollouts } from '../status/get-command.ts';
import { lookAtNodes } from '../status/look-at-fleet.ts';
import { printNodes } from '../status/node-table.ts';
import { healthDocument } from '../status/status-command.ts';
import type { LiveLook } from './live-feed.ts';

/** What looks, and keeps what did not change since its last look. Rejects as commands do. */
export function openLiveLook(stack: Stack): () => Promise<LiveLook> {
  const cache = createProcessCache();
  const news = openLogNews(stack);
  return async () => {
    const seen = await lookAtNodes({ filter: {} }, stack, { ...sourcesOf(stack), cache });
    return {
      standing: {
        status: healthDocument(seen.health),
        rollouts: printRollouts(seen).document,
        fleets: printFleets(seen).document,
        nodes: printNodes(seen).document,
      },
      log: await news(),
    };
  };
}
