import { clean } from "../../base/text.ts";

/** A figure with its labels. */
export type Sample = readonly [labels: Readonly<Record<string, string>>, value: number];

/** Figures of one name, as Prometheus has them; all of what is in etcd goes up and down. */
export interface Family {
  /** Without `signalbox_`. */
  name: string;
  help: string;
  samples: readonly Sample[];
}

/** A family of one figure. */
export function figure(name: string, help: string, value: number): Family {
  return { name, help, samples: [[{}, value]] };
}

/** A family with one figure for each of some words. */
export function tally(
  name: string,
  help: string,
  label: string,
  counts: Iterable<readonly [string, number]>,
): Family {
  return { name, help, samples: [...counts].map(([word, count]) => [{ [label]: word }, count]) };
}

/** Prometheus' text format. Of figures whose labels look the same, only the first: one too many, and none would be taken. */
export function exposition(families: readonly Family[]): string {
  return families.map(familyText).join("");
}

function familyText({ name, help, samples }: Family): string {
  const whole = `signalbox_${name}`;
  const lines = new Map<string, string>();
  for (const [labels, value] of samples) {
    const series = `${whole}${labelsText(labels)}`;
    if (!lines.has(series)) lines.set(series, `${series} ${valueText(value)}\n`);
  }
  if (lines.size === 0) return "";
  return `# HELP ${whole} ${help}\n# TYPE ${whole} gauge\n${[...lines.values()].join("")}`;
}

function labelsText(labels: Sample[0]): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(clean(value))}"`);
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}

const escaped = (text: string) => text.replace(/["\\]/g, "\\$&");

function valueText(value: number): string {
  if (Number.isFinite(value)) return String(value);
  return Number.isNaN(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf";
}
