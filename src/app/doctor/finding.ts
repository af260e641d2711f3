/**
 * A finding of `cluster doctor`: one link between watcher, queue, functions and API server, and how it is.
 *
 * Codes are public (docs/reference.md). `failed` means that something does not work, or may not go on
 * working; `warning` that somebody should know; `unknown` that it could not be checked from here, and
 * why. A finding that is not ok says what to do next, in one sentence or command.
 */
import { defined } from '@rollcall/base/defined.ts';

/** Links in the order in which they are checked and shown. */
export const LINKS = [
  'registration',
  'freeze',
  'mode',
  'deployment',
  'functions',
  'address',
  'name',
  'connection',
  'tls',
  'api-server',
  'identity',
  'credential',
  'access-entries',
  'functions-rights',
  'requests-rights',
  'watcher-rights',
  'admission',
  'lease',
  'watcher',
  'events-queue',
  'dead-letters',
  'sender',
  'refusals',
  'freshness',
  'view',
  'breaker',
  'rival',
  'copilot',
  'fleets',
  'clock',
] as const;

/** A link. */
export type DoctorLink = (typeof LINKS)[number];

/** How a link is. */
export type FindingLevel = 'ok' | 'warning' | 'failed' | 'unknown';

/** What was found about a link. */
export interface Finding {
  readonly link: DoctorLink;
  /** From the tables of docs/reference.md. */
  readonly code: string;
  readonly level: FindingLevel;
  /** What was seen, in words; never a credential. */
  readonly seen: string;
  /** What to do next; absent where nothing is to be done. */
  readonly next?: string;
}

/** Something that was checked, or why it could not be. */
export type Checked<T> =
  | { readonly kind: 'checked'; readonly value: T }
  | { readonly kind: 'unchecked'; readonly why: string };

/** A checked fact. */
export function checked<T>(value: T): Checked<T> {
  return { kind: 'checked', value };
}

/** A fact that could not be had. */
export function unchecked(why: string): { readonly kind: 'unchecked'; readonly why: string } {
  return { kind: 'unchecked', why };
}

/** Makes the finding of one link. */
export function finding(link: DoctorLink, found: Omit<Finding, 'link'>): Finding {
  return { link, ...found };
}

/** The finding of a link that is as it should be. */
export function ok(link: DoctorLink, code: string, seen: string): Finding {
  return { link, code, level: 'ok', seen };
}

type Told = Pick<Finding, 'seen' | 'next'>;

/** The finding of a link that does not work. */
export function failed(link: DoctorLink, code: string, told: Told): Finding {
  return { link, code, level: 'failed', ...told };
}

/** The finding of a link about which somebody should know. */
export function warning(link: DoctorLink, code: string, told: Told): Finding {
  return { link, code, level: 'warning', ...told };
}

/** The finding of a link that could not be checked. */
export function notChecked(link: DoctorLink, why: string, next?: string): Finding {
  return {
    link,
    code: `${link}-unchecked`,
    level: 'unknown',
    seen: why,
    ...defined({ next }),
  };
}
