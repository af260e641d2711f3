/** The mark of a state: a shape and a word, so that colour says nothing alone. */
import type { VNode } from 'preact';
import type { LookKind } from '../model/looks.ts';
import { useAge } from '../live/page-context.ts';

/** A shape for a kind of cell, as on the map. */
export function KindMark(props: { readonly kind: LookKind }): VNode {
  return <span class={`mark mark-${props.kind}`} aria-hidden="true" />;
}

export type Tone = 'failing' | 'waiting' | 'coming' | 'well' | 'unknown';

const KINDS: Readonly<Record<Tone, LookKind>> = {
  ...{ failing: 'failing', waiting: 'held', coming: 'coming', well: 'serving', unknown: 'unknown' },
};

/** A word with its mark. */
export function StateMark(props: { readonly tone: Tone; readonly text: string }): VNode {
  const { tone, text } = props;
  return (
    <span class={`state state-${tone}`}>
      <KindMark kind={KINDS[tone]} />
      {text}
    </span>
  );
}

/** The mark of a state that the page heard of: it is unknown while the news is late. */
export function LiveMark({ tone, text }: { readonly tone: Tone; readonly text: string }): VNode {
  return <StateMark tone={useAge().kind === 'fresh' ? tone : 'unknown'} text={text} />;
}
