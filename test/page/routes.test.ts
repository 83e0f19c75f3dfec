/** The addresses of the page. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { findSubjectPath, parseTarget } from "../../src/page/routes.ts";

const KINDS = ["lock", "resource", "host", "group", "run", "schedule"] as const;

test("the address of an object leads to it, whatever its name, also as JSON and below a base path", () => {
  const part = fc.oneof(
    fc.string({ unit: "binary", minLength: 1 }),
    fc.constantFrom(".", "..", "a.json", "/", "%2F", "?name=x", "#"),
  );
  const name = fc.array(part, { minLength: 1, maxLength: 3 }).map((parts) => parts.join(""));
  fc.assert(
    fc.property(fc.constantFrom(...KINDS), name, fc.constantFrom("", "/jobs"), (kind, name, basePath) => {
      const path = findSubjectPath({ kind, name }, basePath);
      if (path === undefined) return expect(name.isWellFormed()).toBe(false);
      const asked = new URL(path, "http://localhost"); // as a browser resolves it
      expect(parseTarget(asked.pathname + asked.search, basePath)).toMatchObject({
        route: { kind: "object", of: kind, name },
        isJson: false,
      });
    }),
  );
});

test.each([
  ["/", { kind: "overview" }],
  ["/overview.json", { kind: "overview" }],
  ["/locks?filter=a", { kind: "list", id: "locks" }],
  ["/macros", { kind: "list", id: "macros" }],
  ["/lock/a%2Fb.json", { kind: "object", of: "lock", name: "a/b" }],
  ["/check", { kind: "check", of: "all" }],
  ["/check/lock/a", { kind: "check", of: "lock", name: "a" }],
  ["/check/lock?name=..", { kind: "check", of: "lock", name: ".." }],
  ["/badge/schedule/a.b.svg", { kind: "badge", of: "schedule", name: "a.b" }],
  ["/files/live.js", { kind: "file", name: "live.js" }],
])("%s is an address", (url, route) => {
  expect(parseTarget(url, "")?.route).toEqual(route);
});

test.each([
  "/lock/",
  "/lock",
  "/lock/a/b",
  "/nothing",
  "/check/host/a",
  "/badge/lock",
  "/lock/%ff",
  "/files",
  "//",
  "/constructor",
])("%s is no address", (url) => expect(parseTarget(url, "")).toBeUndefined());

test("below a base path, nothing else is an address", () => {
  for (const url of ["/locks", "/jobsx/locks", "/"]) expect(parseTarget(url, "/jobs")).toBeUndefined();
  expect(parseTarget("/jobs", "/jobs")?.route).toEqual({ kind: "overview" });
});
