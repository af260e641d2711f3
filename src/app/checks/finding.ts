/**
 * What a check finds: one link between watcher, queue, functions and API server, and how it is.
 *
 * Codes are public (finding-codes.ts). A finding that is not ok says what to do next.
 */
import { defined } from '@rollcall/base/defined.ts';
import type { CheckedCode, FindingLevel, Link } from './finding-codes.ts';

/** What was found about a link. */
export interface Finding {
  readonly link: Link;
  readonly code: CheckedCode | `${Link}-unchecked`;
  readonly level: FindingLevel;
  /** What was seen, in words; never a credential. */
  readonly seen: string;
  /** What to do next; absent where nothing is to be done. */
  readonly next?: string;
}

export function ok(link: Link, code: CheckedCode, seen: string): Finding {
  return { link, code, level: 'ok', seen };
}

type Told = Pick<Finding, 'seen' | 'next'>;

export function failed(link: Link, code: CheckedCode, told: Told): Finding {
  return { link, code, level: 'failed', ...told };
}

export function warning(link: Link, code: CheckedCode, told: Told): Finding {
  return { link, code, level: 'warning', ...told };
}

export function notChecked(link: Link, why: string, next?: string): Finding {
  return { link, code: `${link}-unchecked`, level: 'unknown', seen: why, ...defined({ next }) };
}

/** True if a link has failed: the exit code of `cluster doctor`. */
export function hasFailed(findings: readonly Finding[]): boolean {
  return findings.some(({ level }) => level === 'failed');
}

/** True of what failed or should be known. */
export function isProblem({ level }: Finding): boolean {
  return level === 'failed' || level === 'warning';
}

const NAMES_SHOWN = 5;

/** `a, b and 3 more`: how findings name many objects. */
export function someNames(names: readonly string[]): string {
  const shown = names.slice(0, NAMES_SHOWN).join(', ');
  const more = names.length - NAMES_SHOWN;
  return more > 0 ? `${shown} and ${String(more)} more` : shown;
}
