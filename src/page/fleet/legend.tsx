/** What cells mean, each with its shape, colour and count; a press looks for them. */
import type { VNode } from 'preact';
import { RELEASE_LOOKS, LOOK_KINDS, LOOK_WORDS, releaseLooks } from '../model/looks.ts';
import type { KindCounts } from '../model/looks.ts';
import type { Paint } from '../model/cells.ts';
import type { NodeMap } from '../model/documents.ts';
import { KindMark } from '../parts/mark.tsx';

interface LegendProps {
  readonly map: NodeMap;
  readonly counts: KindCounts;
  readonly paint: Paint;
  readonly onSearch: (text: string) => void;
}

export function Legend({ map, counts, paint, onSearch }: LegendProps): VNode {
  return (
    <div class="legend">
      <ul aria-label="Nodes by reason">
        {LOOK_KINDS.map((kind) => (
          <li key={kind}>
            <button
              type="button"
              class="legend-item"
              onClick={() => {
                onSearch(`reason:${kind}`);
              }}
            >
              <KindMark kind={kind} />
              <strong>{counts[kind].toLocaleString('en')}</strong> {LOOK_WORDS[kind]}
            </button>
          </li>
        ))}
        {paint === 'reason' ? (
          <li class="legend-note">
            <span class="mark mark-notch" aria-hidden="true" /> another release than most
          </li>
        ) : null}
      </ul>
      {paint === 'release' ? <Releases map={map} onSearch={onSearch} /> : null}
    </div>
  );
}

function Releases(props: Pick<LegendProps, 'map' | 'onSearch'>): VNode {
  const { map, onSearch } = props;
  const looks = releaseLooks(map);
  const counts = looks.map(() => 0);
  for (const { release } of map.clusters) {
    for (const place of release) if (place >= 0) counts[place] = (counts[place] ?? 0) + 1;
  }
  const named = looks
    .map((look, place) => ({ look, name: map.releases[place] ?? '', count: counts[place] ?? 0 }))
    .filter(({ look }) => look < RELEASE_LOOKS - 1)
    .sort((left, right) => left.look - right.look);
  const others = looks.filter((look) => look === RELEASE_LOOKS - 1).length;
  return (
    <ul aria-label="Nodes by release">
      {named.map(({ look, name, count }) => (
        <li key={name}>
          <button
            type="button"
            class="legend-item"
            onClick={() => {
              onSearch(`release:${name}`);
            }}
          >
            <span class={`mark mark-release-${String(look)}`} aria-hidden="true" />
            <strong>{count.toLocaleString('en')}</strong> {name}
          </button>
        </li>
      ))}
      {others === 0 ? null : (
        <li class="legend-note">
          <span class={`mark mark-release-${String(RELEASE_LOOKS - 1)}`} aria-hidden="true" />{' '}
          {others} other releases
        </li>
      )}
    </ul>
  );
}
