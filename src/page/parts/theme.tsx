/** Light or dark: the system's, until the button says otherwise; kept in this browser. */
import type { VNode } from 'preact';
import { createStore, useStore } from '../live/store.ts';

export type Theme = 'light' | 'dark';

const KEY = 'rollcall-theme';
const system = window.matchMedia('(prefers-color-scheme: dark)');

function chosen(): Theme | undefined {
  const kept = localStorage.getItem(KEY);
  return kept === 'light' || kept === 'dark' ? kept : undefined;
}

const theme = createStore<Theme>('light');

function apply(): void {
  const next = chosen() ?? (system.matches ? 'dark' : 'light');
  document.documentElement.dataset['theme'] = next;
  theme.set(next);
}

/** Shows the theme before the first picture, and follows the system while the page is open. */
export function startTheme(): void {
  system.addEventListener('change', apply);
  apply();
}

/** The theme now. */
export function useTheme(): Theme {
  return useStore(theme);
}

/** The button. */
export function ThemeButton(): VNode {
  const now = useTheme();
  const other = now === 'dark' ? 'light' : 'dark';
  return (
    <button
      type="button"
      class="quiet"
      aria-label={`Use the ${other} theme`}
      onClick={() => {
        localStorage.setItem(KEY, other);
        apply();
      }}
    >
      {now === 'dark' ? '☀' : '☾'}
    </button>
  );
}
