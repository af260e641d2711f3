/** A moment with its age, which grows while it is looked at. */
import type { VNode } from 'preact';
import { timeText } from '../../core/rollout/gate-words.ts';
import { momentText } from '../model/told-times.ts';
import { usePage } from '../live/page-context.ts';
import { useStore } from '../live/store.ts';

/** The moment. */
export function Moment(props: { readonly atMs: number }): VNode {
  const { atMs } = props;
  const nowMs = useStore(usePage().now);
  return <time dateTime={timeText(atMs)}>{momentText(atMs, nowMs)}</time>;
}
