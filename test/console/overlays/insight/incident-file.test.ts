/** The file of a report, on real disks. */
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { writeIncidentFile } from "../../../../src/console/overlays/insight/incident.ts";
import { findNamedRow } from "../../../../src/console/overlays/insight/since.ts";

function createFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-incident-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

describe("the file", () => {
  it("is new and only for its owner", () => {
    const path = join(createFolder(), "a.md");
    expect(writeIncidentFile(path, "text")).toBeUndefined();
    expect(readFileSync(path, "utf8")).toBe("text");
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(writeIncidentFile(path, "other")).toContain("exists already");
    expect(readFileSync(path, "utf8")).toBe("text");
  });

  it("is never written through a link, nor to a device", () => {
    const folder = createFolder();
    writeFileSync(join(folder, "theirs"), "theirs");
    symlinkSync(join(folder, "theirs"), join(folder, "link.md"));
    symlinkSync(join(folder, "nowhere"), join(folder, "dangling.md"));
    for (const path of [join(folder, "link.md"), join(folder, "dangling.md"), "/dev/null", folder])
      expect(writeIncidentFile(path, "text")).toContain("exists already");
    expect(readFileSync(join(folder, "theirs"), "utf8")).toBe("theirs");
    expect(readdirSync(folder).sort()).toEqual(["dangling.md", "link.md", "theirs"]);
  });

  it("that cannot be made is reported", () => {
    expect(writeIncidentFile(join(createFolder(), "none", "a.md"), "text")).toMatch(
      /^cannot write ".*a\.md": the folder does not exist; nothing was written$/,
    );
  });
});

describe("the row of an event", () => {
  it.each([
    ["lock a b", { tab: "locks", key: "lock/a b" }],
    ["resource db", { tab: "resources", key: "resource/db" }],
    ["host web1", { tab: "hosts", key: "web1" }],
    ["schedule x", { tab: "schedules", key: "x" }],
    ["group web", { tab: "groups", key: "web" }],
    ["worker w1", undefined],
    ["all", undefined],
    ["", undefined],
  ])("%j", (subject, row) => {
    expect(findNamedRow(subject)).toEqual(row);
  });
});
