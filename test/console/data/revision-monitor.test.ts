import { describe, expect, it } from "vitest";
import { RevisionMonitor } from "../../../src/console/data/live-view.ts";

describe("the course of revisions", () => {
  it("is what it should be as long as they do not shrink", () => {
    const course = new RevisionMonitor();
    for (const revision of [0n, 1n, 7n, 7n, 8n]) expect(course.checkRevision(revision)).toBeUndefined();
  });

  it("tells once of an etcd that counts from an earlier one", () => {
    const course = new RevisionMonitor();
    course.checkRevision(31n);
    expect(course.checkRevision(2n)).toBe(
      "the revision of etcd went from 31 down to 2: etcd was restored, or replaced",
    );
    expect(course.checkRevision(3n)).toBeUndefined();
  });
});
