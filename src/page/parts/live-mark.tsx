/** The mark of a state that the page heard of: it is unknown while the news is late. */
import type { VNode } from 'preact';
import { useAge } from '../live/page-context.ts';
import { StateMark } from './mark.tsx';
import type { Tone } from './mark.tsx';

/** A word with its mark. */
export function LiveMark({ tone, text }: { readonly tone: Tone; readonly text: string }): VNode {
  return <StateMark tone={useAge().kind === 'fresh' ? tone : 'unknown'} text={text} />;
}
