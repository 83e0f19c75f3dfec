/** The alert rules and the dashboard in docs/ name only metrics that `signalbox serve` and workers serve. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, it } from "vitest";
import { parse } from "yaml";

const DOCS = resolve(import.meta.dirname, "../../docs");
const read = (path: string) => readFileSync(resolve(DOCS, path), "utf8");

/** Names without `signalbox_`, from the tables of docs/metrics.md, which other tests compare with the served metrics. */
function listDocumentedNames() {
  const page = read("metrics.md");
  const rows = [...page.matchAll(/^\| (`[^|]+`) \|/gm)].flatMap(
    ([, cell = ""]) => cell.match(/[a-z_]{2,}/g) ?? [],
  );
  return new Set(rows);
}

function findNames(expression: string) {
  return [...expression.matchAll(/\bsignalbox_(?:worker_)?([a-z_]+)/g)].map(([, name = ""]) =>
    name.replace(/_(bucket|count|sum)$/, ""),
  );
}

interface Panel {
  id: number;
  gridPos: { x: number; y: number; w: number; h: number };
  targets: { expr: string }[];
}

const rules = parse(read("prometheus/alerts.yml")).groups.flatMap(
  (group: { rules: { alert: string; expr: string }[] }) => group.rules,
) as { alert: string; expr: string }[];
const dashboard = JSON.parse(read("grafana/signalbox.json")) as { panels: Panel[]; schemaVersion: number };

it.each([
  ["alerts.yml", rules.map(({ expr }) => expr)],
  ["signalbox.json", dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr))],
])("%s names documented metrics only", (_, expressions) => {
  const known = listDocumentedNames();
  const used = expressions.flatMap(findNames);
  expect(used.length).toBeGreaterThan(5);
  expect(used.filter((name) => !known.has(name))).toEqual([]);
});

it("panels of the dashboard have ids of their own and do not overlap", () => {
  const { panels } = dashboard;
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, at) => `${x + (at % w)},${y + Math.floor(at / w)}`),
  );
  expect(new Set(cells).size).toBe(cells.length);
});
