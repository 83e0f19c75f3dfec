import { describe, expect, it } from "vitest";
import { Course } from "../../../src/console/sight/course.ts";

describe("the course of revisions", () => {
  it("is what it should be as long as they do not shrink", () => {
    const course = new Course();
    for (const revision of [0n, 1n, 7n, 7n, 8n]) expect(course.see(revision)).toBeUndefined();
  });

  it("tells once of an etcd that counts from an earlier one", () => {
    const course = new Course();
    course.see(31n);
    expect(course.see(2n)).toBe("etcd is at revision 2, it was at 31: restored, or another one");
    expect(course.see(3n)).toBeUndefined();
  });
});
