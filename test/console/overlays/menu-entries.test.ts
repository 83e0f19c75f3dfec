import { describe, expect, it } from "vitest";
import { COMMANDS } from "../../../src/commands/registry/registry.ts";
import { listMenuEntries } from "../../../src/console/overlays/Menu.tsx";
import { listKeyActions } from "../../../src/console/parts/keymap.ts";
import { createKeys } from "../../../src/protocol/keys.ts";
import { SNAPSHOT_COLLECTIONS } from "../../../src/state/snapshot.ts";
import { SnapshotBuilder } from "../../../src/state/snapshot-builder.ts";
import type { Subject } from "../../../src/state/subject.ts";

const snapshot = new SnapshotBuilder(createKeys("/test/"), SNAPSHOT_COLLECTIONS).getSnapshot();

function list(subjects: readonly Subject[], changeObstacle?: string) {
  return listMenuEntries({
    actions: listKeyActions(COMMANDS),
    subjects,
    snapshot,
    changeObstacle,
    getKeyLabels: (id) => [`<${id}>`],
  });
}

function listIds(...subjects: readonly Subject[]): string[] {
  return list(subjects).map(({ id }) => id);
}

describe("the menu of a row", () => {
  it("has only what applies to the kind of the row", () => {
    const host = listIds({ kind: "host", name: "web1" });
    expect(host).toEqual(expect.arrayContaining(["open", "mark", "copy", "drain", "undrain"]));
    for (const foreign of [
      "reset",
      "release",
      "edit",
      "why",
      "output",
      "copyRun",
      "schedule pause",
      "collisions",
    ])
      expect(host).not.toContain(foreign);
    const schedule = listIds({ kind: "schedule", name: "nightly" });
    expect(schedule).toEqual(
      expect.arrayContaining(["edit", "delete", "output", "schedule trigger", "collisions"]),
    );
    expect(schedule).not.toContain("drain");
  });

  it("has none of the actions that move or concern the whole table", () => {
    const ids = listIds({ kind: "lock", name: "a" });
    for (const other of ["up", "sort", "menu", "quit", "theme", "create"]) expect(ids).not.toContain(other);
  });

  it("takes a record for what it is about", () => {
    expect(listIds({ kind: "record", name: "1", about: { kind: "schedule", name: "nightly" } })).toContain(
      "edit",
    );
    expect(listIds({ kind: "record", name: "1" })).not.toContain("edit");
  });

  it("says why an action is not possible now", () => {
    const entries = list([{ kind: "lock", name: "a" }]);
    expect(entries.find(({ id }) => id === "reset")?.obstacle).toBe("nobody holds lock a");
    expect(entries.find(({ id }) => id === "drain")?.obstacle).toBeUndefined();
    const refused = list([{ kind: "lock", name: "a" }], "this console is read-only");
    expect(refused.find(({ id }) => id === "drain")?.obstacle).toBe("this console is read-only");
    expect(refused.find(({ id }) => id === "copy")?.obstacle).toBeUndefined();
  });

  it("has the likely actions first, and last what is not possible now", () => {
    const ids = listIds({ kind: "schedule", name: "nightly" });
    expect(ids.slice(0, 5)).toEqual([
      "schedule trigger",
      "schedule pause",
      "edit",
      "output",
      "whyDidItNotRun",
    ]);
    expect(ids.slice(-2)).toEqual(["schedule resume", "deadLetters"]);
    expect(listIds({ kind: "lock", name: "a" }).slice(0, 3)).toEqual(["open", "why", "drain"]);
    expect(listIds({ kind: "drain", scope: "all", name: "" })[0]).toBe("undrain");
    const about = { kind: "schedule", name: "nightly" } as const;
    expect(listIds({ kind: "record", name: "1", about })[0]).toBe("schedule trigger");
  });

  it("has the keys of the actions, and is empty without a row", () => {
    expect(list([{ kind: "lock", name: "a" }]).find(({ id }) => id === "drain")?.key).toBe("<drain>");
    expect(list([])).toEqual([]);
  });
});
