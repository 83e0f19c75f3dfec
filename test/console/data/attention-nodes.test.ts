import { createElement } from "react";
import { describe, expect, it } from "vitest";
import { renderComponent } from "../../../fixtures/console/render-component.ts";
import { createStubConsole, withConsole } from "../../../fixtures/console/stub-console.ts";
import { createSnapshot, createTicketKey, NOW } from "../../../fixtures/state/sample-snapshots.ts";
import {
  type AttentionInputs,
  buildAttentionNodes,
  buildTree,
  ExplorerTree,
  getDefaultUnfolded,
} from "../../../src/console/data/explorer-tree.ts";
import { Explorer } from "../../../src/console/panes/Explorer.tsx";
import { getTheme, UNICODE } from "../../../src/console/theme/theme.ts";
import { stripStyles } from "../../../src/core/base/text.ts";
import type { Problem } from "../../../src/site/state/problem.ts";

const problem = (subject: string, level: Problem["level"] = "failure"): Problem => ({
  kind: "malformed",
  level,
  subject,
  detail: "",
  remedy: "",
});
const drain = (name: string) => ({
  key: `drains/${name}`,
  scope: "lock" as const,
  name,
  by: "ann",
  at: NOW,
  modRevision: 1n,
});
const share = (name: string, used: number, total: number, waiting: number) => ({
  name,
  short: name,
  used,
  total,
  waiting,
});
const waiting = (lock: string, at: number) => [
  createTicketKey(`lock ${lock}`, `${lock}1`, 1, { state: "held", grantedAt: NOW }),
  createTicketKey(`lock ${lock}`, `${lock}2`, 2, { state: "waiting", enqueuedAt: NOW - at }),
];
const NOTHING: AttentionInputs = { snapshot: createSnapshot([]), problems: [], drains: [], shares: [] };
const list = (inputs: Partial<AttentionInputs>) =>
  buildAttentionNodes({ ...NOTHING, ...inputs }, true).map(
    ({ label, note, tone }) => `${tone} ${label} ${note}`,
  );

describe("what needs attention", () => {
  it("is in the order of its urgency: problems, drains, what is full, what is waited for longest", () => {
    expect(
      list({
        problems: [problem("lock odd"), problem("group web", "warning")],
        drains: [drain("invoices")],
        shares: [share("db", 10, 10, 2), share("smtp", 6, 6, 0), share("gpu", 0, 1, 1)],
        snapshot: createSnapshot([...waiting("new", 5), ...waiting("old", 50)]),
      }),
    ).toEqual([
      "plain Attention 6",
      "problem odd malformed",
      "waiting web malformed",
      "problem invoices drained",
      "problem db 10/10 +2",
      "waiting old +1",
      "waiting new +1",
    ]);
  });

  it("has each object once, by its most urgent reason", () => {
    expect(
      list({
        problems: [problem("lock a"), problem("lock a", "warning")],
        drains: [drain("a"), drain("b")],
        snapshot: createSnapshot([...waiting("a", 1), ...waiting("b", 2)]),
      }),
    ).toEqual(["plain Attention 2", "problem a malformed", "problem b drained"]);
  });

  it("is counted where it is much, and may be nothing", () => {
    const problems = ["1", "2", "3", "4", "5", "6", "7"].map((name) => problem(`lock ${name}`));
    expect(list({ problems }).slice(5)).toEqual(["problem 5 malformed", "quiet 2 more "]);
    expect(list({})).toEqual(["plain Attention none"]);
    expect(buildAttentionNodes({ ...NOTHING, problems }, false)).toHaveLength(1);
  });
});

describe("the explorer", () => {
  const snapshot = { ...createSnapshot([...waiting("invoices-of-all-the-customers", 50)]), revision: 7n };
  const inputs = { snapshot, counts: { locks: 1 }, problems: [], open: getDefaultUnfolded({ locks: 1 }) };

  it("begins with that, then has the kinds; locks are folded where there are many", () => {
    const ids = buildTree(inputs, NOW, UNICODE).map(({ id }) => id.replace(/\/.*/, ""));
    expect(ids.slice(0, 4)).toEqual(["attention", "attention", "locks", "locks"]);
    expect([...getDefaultUnfolded({ locks: 31 })]).toEqual(["attention", "resources", "clusters"]);
  });

  it("has its first node before anything was read, so that the cursor stays on it", () => {
    const [first] = buildTree({ ...inputs, snapshot: { ...snapshot, revision: 0n } }, NOW, UNICODE);
    expect(first).toMatchObject({ id: "attention", note: "" });
    expect(first?.isOpen).toBeUndefined();
  });

  it("shows mark, name and note in its columns", () => {
    const tree = new ExplorerTree();
    tree.update(inputs, NOW, UNICODE);
    const app = createStubConsole({ theme: getTheme("mono", "16", false), tree });
    const explorer = createElement(Explorer, { size: { width: 24, height: 5 } });
    expect(renderComponent(withConsole(app, explorer)).map(stripStyles)).toEqual([
      " EXPLORER",
      " ▾ Attention          1",
      "  ◌ invoices-of-all… +1",
      " ▾ Locks              1",
      "  ● invoices-of-all… +1",
    ]);
  });
});
