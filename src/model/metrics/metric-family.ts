import { clean } from "../../base/text.ts";

/** A value with its labels. */
export type MetricSample = readonly [labels: Readonly<Record<string, string>>, value: number];

/** All samples of one metric, as in Prometheus. Every metric is a gauge. */
export interface MetricFamily {
  /** Name without the prefix `signalbox_`. */
  name: string;
  help: string;
  samples: readonly MetricSample[];
}

/** Creates a family with one sample. */
export function createMetric(name: string, help: string, value: number): MetricFamily {
  return { name, help, samples: [[{}, value]] };
}

/** Creates a family with one sample for each value of a label. */
export function createLabelledMetric(
  name: string,
  help: string,
  label: string,
  counts: Iterable<readonly [string, number]>,
): MetricFamily {
  return { name, help, samples: [...counts].map(([word, count]) => [{ [label]: word }, count]) };
}

/** A metric of items: its name, its help, and its value for an item, if it has one. */
export type ItemMetric<T> = readonly [name: string, help: string, read: (item: T) => number | undefined];

/** Measures items: creates a family for each metric, with one sample for each item. */
export function measureItems<T>(
  items: readonly T[],
  getLabels: (item: T) => MetricSample[0],
  metrics: readonly ItemMetric<T>[],
): MetricFamily[] {
  return metrics.map(([name, help, read]) => {
    const samples = items.flatMap((item): MetricSample[] => {
      const value = read(item);
      return value === undefined ? [] : [[getLabels(item), value]];
    });
    return { name, help, samples };
  });
}

/** Formats metrics in the Prometheus text format. Drops duplicate series: with one, Prometheus rejects the scrape. */
export function formatExposition(families: readonly MetricFamily[]): string {
  return families.map(formatFamily).join("");
}

function formatFamily({ name, help, samples }: MetricFamily): string {
  const whole = `signalbox_${name}`;
  const lines = new Map<string, string>();
  for (const [labels, value] of samples) {
    const series = `${whole}${formatLabels(labels)}`;
    if (!lines.has(series)) lines.set(series, `${series} ${formatValue(value)}\n`);
  }
  if (lines.size === 0) return "";
  return `# HELP ${whole} ${help}\n# TYPE ${whole} gauge\n${[...lines.values()].join("")}`;
}

function formatLabels(labels: MetricSample[0]): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(clean(value))}"`);
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}

const escapeLabel = (text: string) => text.replace(/["\\]/g, "\\$&");

function formatValue(value: number): string {
  if (Number.isFinite(value)) return String(value);
  return Number.isNaN(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf";
}
