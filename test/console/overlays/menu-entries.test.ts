import { describe, expect, it } from "vitest";
import { parseSubject } from "../../../fixtures/state/parse-subject.ts";
import { COMMANDS } from "../../../src/cli/commands/registry.ts";
import { listMenuEntries } from "../../../src/console/overlays/Menu.tsx";
import { listKeyActions } from "../../../src/console/parts/keymap.ts";
import { createKeys } from "../../../src/core/protocol/keys.ts";
import { SNAPSHOT_COLLECTIONS } from "../../../src/site/state/snapshot.ts";
import { SnapshotBuilder } from "../../../src/site/state/snapshot-builder.ts";

const snapshot = new SnapshotBuilder(createKeys("/test/"), SNAPSHOT_COLLECTIONS).getSnapshot();

function list(subjects: readonly string[], changeObstacle?: string) {
  return listMenuEntries({
    actions: listKeyActions(COMMANDS),
    subjects: subjects.map((text) => parseSubject(text)),
    snapshot,
    changeObstacle,
    getKeyLabels: (id) => [`<${id}>`],
  });
}

function listIds(subject: string) {
  return list([subject]).map(({ id }) => id);
}

describe("the menu of a row", () => {
  it("has only what applies to the kind of the row", () => {
    const host = listIds("host web1");
    expect(host).toEqual(expect.arrayContaining(["open", "mark", "copy", "drain", "undrain"]));
    for (const foreign of ["reset", "edit", "why", "output", "copyRun", "schedule pause", "collisions"])
      expect(host).not.toContain(foreign);
    const schedule = listIds("schedule nightly");
    expect(schedule).toEqual(
      expect.arrayContaining(["edit", "delete", "output", "schedule trigger", "collisions"]),
    );
    expect(schedule).not.toContain("drain");
  });

  it("has none of the actions that move or concern the whole table", () => {
    const ids = listIds("lock a");
    for (const other of ["up", "sort", "menu", "quit", "theme", "create"]) expect(ids).not.toContain(other);
  });

  it("takes a record for what it is about", () => {
    expect(listIds("record 1 of schedule nightly")).toContain("edit");
    expect(listIds("record 1")).not.toContain("edit");
  });

  it("says why an action is not possible now", () => {
    const entries = list(["lock a"]);
    expect(entries.find(({ id }) => id === "reset")?.obstacle).toBe("nobody holds lock a");
    expect(entries.find(({ id }) => id === "drain")?.obstacle).toBeUndefined();
    const refused = list(["lock a"], "this console is read-only");
    expect(refused.find(({ id }) => id === "drain")?.obstacle).toBe("this console is read-only");
    expect(refused.find(({ id }) => id === "copy")?.obstacle).toBeUndefined();
  });

  it("has the likely actions first, and last what is not possible now", () => {
    const ids = listIds("schedule nightly");
    expect(ids.slice(0, 5)).toEqual([
      "schedule trigger",
      "schedule pause",
      "edit",
      "output",
      "whyDidItNotRun",
    ]);
    expect(ids.slice(-2)).toEqual(["schedule resume", "deadLetters"]);
    expect(listIds("lock a").slice(0, 3)).toEqual(["open", "why", "drain"]);
    expect(listIds("drain all")[0]).toBe("undrain");
    expect(listIds("record 1 of schedule nightly")[0]).toBe("schedule trigger");
  });

  it("says what the key does to this row", () => {
    const listTitles = (...subjects: string[]) =>
      Object.fromEntries(list(subjects).map(({ id, title }) => [id, title]));
    expect(listTitles("host web1.example.com")).toMatchObject({
      drain: "Drain host web1",
      undrain: "Lift the drain of host web1",
      open: "Open web1",
    });
    expect(listTitles("lock nightly-db")).toMatchObject({
      reset: "Reset nightly-db",
      why: "Why does it wait",
    });
    expect(listTitles("schedule nightly")).toMatchObject({ "schedule trigger": "Run nightly now" });
    expect(listTitles("lock a", "lock b")).toMatchObject({
      drain: "Drain 2 rows",
      timeline: "Timeline of 2 rows",
    });
    const cell = { kind: "resource", name: "web1.example.com_cpu", host: "web1.example.com" } as const;
    const inputs = { actions: listKeyActions(COMMANDS), snapshot, changeObstacle: undefined };
    const entries = listMenuEntries({ ...inputs, subjects: [cell], getKeyLabels: () => [] });
    expect(entries.find(({ id }) => id === "drain")?.title).toBe("Drain host web1");
    expect(entries.find(({ id }) => id === "edit")?.title).toBe("Edit web1_cpu");
  });

  it("is in groups: the likely, those that show, change and hand on, and what is not possible now", () => {
    const groups = list(["lock a"]).map(({ group }) => group);
    expect([...new Set(groups)]).toEqual(["likely", "show", "hand on", "not now"]);
    expect(groups).toEqual([...groups].sort((one, other) => groups.indexOf(one) - groups.indexOf(other)));
  });

  it("has the keys of the actions, and is empty without a row", () => {
    expect(list(["lock a"]).find(({ id }) => id === "drain")?.key).toBe("<drain>");
    expect(list([])).toEqual([]);
  });
});
