import { describe, expect, it } from "vitest";
import { RevisionMonitor } from "../../../src/console/data/revision-monitor.ts";

describe("the course of revisions", () => {
  it("is what it should be as long as they do not shrink", () => {
    const course = new RevisionMonitor();
    for (const revision of [0n, 1n, 7n, 7n, 8n]) expect(course.checkRevision(revision)).toBeUndefined();
  });

  it("tells once of an etcd that counts from an earlier one", () => {
    const course = new RevisionMonitor();
    course.checkRevision(31n);
    expect(course.checkRevision(2n)).toBe("etcd is at revision 2, it was at 31: restored, or another one");
    expect(course.checkRevision(3n)).toBeUndefined();
  });
});
