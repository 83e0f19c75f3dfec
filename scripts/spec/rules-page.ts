/** Renders the part of spec/README.md that says which rules there are, and what happens without each. */
import type { Exploration } from "./checker.ts";
import type { Model, Rule } from "./model.ts";

/** What was found about a model. */
export interface ModelReport {
  model: Model;
  /** The small worlds of the whole model. */
  whole: readonly { world: readonly string[]; exploration: Exploration }[];
  /** What was found without each rule. */
  without: ReadonlyMap<Rule, Exploration>;
}

const BEGIN = "<!-- The rest is made by: npm run spec -- --write -->";

/** Replaces the generated part of the page. */
export function replaceRules(page: string, reports: readonly ModelReport[]): string {
  const head = page.slice(0, page.indexOf(BEGIN) + BEGIN.length);
  return `${head}\n\n${reports.map(renderModel).join("\n")}`;
}

function renderModel({ model, whole, without }: ModelReport): string {
  const worlds = whole.map(({ world, exploration: { states } }) => {
    const name = world.length === 0 ? "the small world" : `\`${world.join(" ")}\``;
    return `${name}: ${states.toLocaleString("en")} states`;
  });
  const rows = model.rules.map((rule) => renderRow(rule, without.get(rule)?.counterExample ?? []));
  return [
    `## ${model.name}`,
    "",
    `[${model.name}.pml](${model.name}.pml): ${model.title}`,
    `No violation in ${worlds.join("; ")}.`,
    "",
    "| | rule | without it | mutants or tests |",
    "| --- | --- | --- | --- |",
    ...rows,
    "",
  ].join("\n");
}

function renderRow({ id, text, shownBy }: Rule, events: readonly string[]): string {
  const violation = events.at(-1) ?? "";
  const steps = mergeRepeated(events.slice(0, -1)).join("; ");
  const shown = shownBy.map((name) => `\`${name}\``).join(", ");
  return `| ${id} | ${text} | **${violation}**: ${steps} | ${shown} |`;
}

/** Writes equal events in a row once, with their number. */
function mergeRepeated(events: readonly string[]): string[] {
  const merged: { event: string; count: number }[] = [];
  for (const event of events) {
    const last = merged.at(-1);
    if (last?.event === event) last.count += 1;
    else merged.push({ event, count: 1 });
  }
  return merged.map(({ event, count }) => (count === 1 ? event : `${event} (${count} times)`));
}
