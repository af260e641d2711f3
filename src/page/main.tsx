/** Starts the page: the token, the theme, the stream of events, the address; then draws it. */
import { render } from 'preact';
import { parseAddress } from './model/address.ts';
import { App } from './app.tsx';
import { Client, takeToken } from './live/client.ts';
import { followEvents } from './live/event-stream.ts';
import { PageContext } from './live/page-context.ts';
import type { Page } from './live/page-context.ts';
import { createStore } from './live/store.ts';
import { startTheme } from './parts/theme.tsx';

const TICK_MS = 1_000;

function here(): ReturnType<typeof parseAddress> {
  return parseAddress(location.pathname, location.search);
}

const client = new Client(takeToken(location, history));
const address = createStore(here());
const now = createStore(Date.now());
/** For as long as the page is open. */
const open = new AbortController();

const page: Page = {
  client,
  address,
  now,
  live: followEvents(client, open.signal),
  go: (to, how = 'kept') => {
    if (how === 'kept') history.pushState(null, '', to);
    else history.replaceState(null, '', to);
    address.set(here());
  },
};

setInterval(() => {
  now.set(Date.now());
}, TICK_MS);
window.addEventListener('popstate', () => {
  address.set(here());
});
// An address with a new token, opened in this tab: rollcall ui was started again.
window.addEventListener('hashchange', () => {
  if (location.hash.startsWith('#token=')) location.reload();
});
startTheme();

const root = document.querySelector('#page');
if (root === null) throw new Error('index.html has no place for the page');
render(
  <PageContext.Provider value={page}>
    <App />
  </PageContext.Provider>,
  root,
);
