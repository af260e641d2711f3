/**
 * A chart over time, drawn by uPlot. Series differ in colour and in their dash or form, and the words below it say their last values.
 *
 * uPlot sets styles by properties, which the content security policy allows.
 */
import type { VNode } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { useTheme } from './theme.tsx';

export interface Series {
  readonly label: string;
  /** By time; null: not known. */
  readonly values: readonly (number | null)[];
  /** Name of a colour of page.css, without its dashes. */
  readonly colour: string;
  readonly form: 'line' | 'dashed' | 'dotted' | 'bars';
}

export interface ChartProps {
  /** What it shows, in words, with the last values. */
  readonly label: string;
  readonly timesMs: readonly number[];
  readonly series: readonly Series[];
  readonly height: number;
  /** A value is of a whole day; absent: of a moment. */
  readonly isByDay?: true;
  /** Absent: from the values. */
  readonly range?: readonly [low: number, high: number];
}

const DAY_S = 86_400;
/** So much time is shown at least: of moments, and of days. */
const SPAN_S_MIN = 120;
const DAYS_S_MIN = 7 * DAY_S;
/** Room for half of the last time below the chart. */
const PADDING_RIGHT = 28;

const DAY_STEPS_S = [1, 2, 7, 14, 30].map((days) => days * DAY_S);

const DASHES: Readonly<Partial<Record<Series['form'], number[]>>> = {
  dashed: [8, 4],
  dotted: [2, 3],
};

/** The chart. */
export function Chart(props: ChartProps): VNode {
  const { label, timesMs, series, height, range } = props;
  const ref = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const theme = useTheme();
  const shape = JSON.stringify([series.map(({ label: of, form }) => [of, form]), height, range]);
  useLayoutEffect(() => {
    const element = ref.current;
    if (element === null) return undefined;
    const made = new uPlot(
      optionsOf(props, { width: element.clientWidth, style: getComputedStyle(element) }),
      dataOf(props),
      element,
    );
    show(made, props);
    plot.current = made;
    const observer = new ResizeObserver(() => {
      made.setSize({ width: element.clientWidth, height });
    });
    observer.observe(element);
    return () => {
      observer.disconnect();
      made.destroy();
      plot.current = undefined;
    };
    // Values alone are set below; the theme decides the colours.
  }, [shape, theme]);
  useLayoutEffect(() => {
    if (plot.current !== undefined) show(plot.current, props);
  }, [timesMs, series]);
  return (
    <figure class="chart">
      <div ref={ref} role="img" aria-label={label} />
      <figcaption>
        {series.map(({ label: name, colour, form }) => (
          <span key={name} class="chart-key">
            <span class={`chart-line chart-${form} chart-${colour}`} aria-hidden="true" />
            {name}
          </span>
        ))}
      </figcaption>
    </figure>
  );
}

function dataOf({ timesMs, series }: ChartProps): uPlot.AlignedData {
  return [
    timesMs.map((atMs) => atMs / 1000),
    ...series.map(({ values }) => [...values]),
  ] as uPlot.AlignedData;
}

function optionsOf(
  { series, height, range, isByDay }: ChartProps,
  { width, style }: { readonly width: number; readonly style: CSSStyleDeclaration },
): uPlot.Options {
  const colourOf = (name: string): string => style.getPropertyValue(`--${name}`).trim();
  const axis = {
    stroke: colourOf('soft'),
    grid: { stroke: colourOf('line'), width: 1 },
    ticks: { stroke: colourOf('line'), width: 1 },
  };
  const [low, high] = range ?? [0, undefined];
  return {
    ...{ width, height, legend: { show: false }, cursor: { show: false } },
    padding: [null, PADDING_RIGHT, null, null],
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC'),
    scales: {
      y: { range: (_plot, _min, max) => [low, high ?? Math.max(1, Math.ceil((max || 1) * 1.1))] },
    },
    axes: [
      { ...axis, values: timesOf, ...(isByDay === undefined ? {} : { incrs: DAY_STEPS_S }) },
      { ...axis, size: 46 },
    ],
    series: [
      {},
      ...series.map(({ label, colour, form }) => ({
        label,
        stroke: colourOf(colour),
        width: 2,
        // One value makes no line.
        points: { show: (plot: uPlot) => plot.data[0].length < 3 },
        ...(DASHES[form] === undefined ? {} : { dash: DASHES[form] }),
        ...(form === 'bars' ? { fill: colourOf(colour), ...barsOf() } : {}),
      })),
    ],
  };
}

/** Shows values, over some minutes or days at least: uPlot takes years for a single one. */
function show(plot: uPlot, props: ChartProps): void {
  const to = (props.timesMs.at(-1) ?? Date.now()) / 1000;
  const from = (props.timesMs[0] ?? Date.now()) / 1000;
  const [spanS, edgeS] = props.isByDay === undefined ? [SPAN_S_MIN, 0] : [DAYS_S_MIN, DAY_S / 2];
  plot.setData(dataOf(props), false);
  plot.setScale('x', { min: Math.min(from, to - spanS) - edgeS, max: to + edgeS });
}

/** In UTC, as everything that the page tells: days, or times of a day. */
function timesOf(_plot: uPlot, splits: number[], _axis: number, ...found: number[]): string[] {
  const stepS = found[1] ?? 0;
  const [from, to] = stepS >= DAY_S ? [5, 10] : stepS >= 60 ? [11, 16] : [11, 19];
  return splits.map((seconds) => new Date(seconds * 1000).toISOString().slice(from, to));
}

function barsOf(): Pick<uPlot.Series, 'paths'> {
  const paths = uPlot.paths.bars?.({ size: [0.6, 40] });
  return paths === undefined ? {} : { paths };
}
