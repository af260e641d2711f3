/** What stands above everything: nothing acts, something is frozen, the connection is lost. */
import type { VNode } from 'preact';
import { connectionNotice } from '../model/freshness.ts';
import type { Outage } from '../model/documents.ts';
import { useAge, useLive } from '../live/page-context.ts';

/** Outages of a part of the page, each with what to do; without those that the banner tells. */
export function Outages(props: { readonly outages: readonly Outage[] }): VNode | null {
  const told = new Set(useLive().health?.outages.map(({ message }) => message));
  return <OutageList outages={props.outages.filter(({ message }) => !told.has(message))} />;
}

function OutageList(props: { readonly outages: readonly Outage[] }): VNode | null {
  const { outages } = props;
  if (outages.length === 0) return null;
  return (
    <ul class="outages">
      {outages.map(({ code, message, remedy }) => (
        <li
          key={`${code} ${message}`}
          class={code === 'frozen' ? 'box box-waiting' : 'box box-failing'}
        >
          <strong>{message}</strong> <span class="remedy">{remedy}</span>
        </li>
      ))}
    </ul>
  );
}

/** The banner of the page. */
export function Banner(): VNode {
  const live = useLive();
  const notice = connectionNotice(live, useAge());
  return (
    <div class="banner" role="status" aria-live="polite">
      {notice === undefined ? null : (
        <p class={`box box-${notice.tone}`}>
          <strong>{notice.text}</strong>{' '}
          {notice.remedy === undefined ? null : <span class="remedy">{notice.remedy}</span>}
        </p>
      )}
      <OutageList outages={live.health?.outages ?? []} />
    </div>
  );
}
