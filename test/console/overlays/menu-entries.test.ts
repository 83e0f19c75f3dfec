import { describe, expect, it } from "vitest";
import { listMenuEntries } from "../../../src/console/overlays/menu-overlay.ts";
import { createKeys } from "../../../src/protocol/keys.ts";
import { SNAPSHOT_COLLECTIONS } from "../../../src/state/snapshot.ts";
import { SnapshotBuilder } from "../../../src/state/snapshot-builder.ts";
import type { Subject } from "../../../src/state/subject.ts";

const snapshot = new SnapshotBuilder(createKeys("/test/"), SNAPSHOT_COLLECTIONS).getSnapshot();

function list(subjects: readonly Subject[], changeObstacle?: string) {
  return listMenuEntries({ subjects, snapshot, changeObstacle, getKeyLabels: (id) => [`<${id}>`] });
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

  it("has the keys of the actions, and is empty without a row", () => {
    expect(list([{ kind: "lock", name: "a" }]).find(({ id }) => id === "drain")?.key).toBe("<drain>");
    expect(list([])).toEqual([]);
  });
});
