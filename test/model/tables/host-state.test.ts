import { describe, expect, it } from "vitest";
import { buildClaims } from "../../../src/model/snapshot/claims.ts";
import { findLastWritten, type HostSigns, judgeHostState } from "../../../src/model/tables/host-state.ts";
import { NOW, pictureOf, stand } from "../pictures.ts";

const DAY = 86_400_000;
const signs: HostSigns = { record: undefined, held: 0, waiting: 0, isPresent: false, writtenAt: NOW - 1 };

describe("the state of a host", () => {
  it.each<[state: string, change: Partial<HostSigns>]>([
    ["busy", { held: 1, waiting: 3 }],
    ["waiting", { waiting: 1 }],
    ["idle", {}],
    ["idle", { writtenAt: NOW - DAY }],
    ["silent", { writtenAt: NOW - DAY - 1 }],
    ["unknown", { writtenAt: undefined }],
    ["busy", { writtenAt: undefined, held: 1 }],
  ])("is %s: %j", (state, change) => {
    expect(judgeHostState({ ...signs, ...change }, NOW)).toBe(state);
  });
});

it("takes the latest of all that a host has written as its last sign of life", () => {
  const snapshot = pictureOf([
    stand("lock a", "r", 1, { state: "held", grantedAt: NOW - 5_000, host: "WEB1.example.com" }),
    stand("lock b", "s", 2, { state: "waiting", enqueuedAt: NOW - 9_000, host: "web1.example.com" }),
  ]);
  const claims = [...buildClaims(snapshot).values()];
  expect(findLastWritten(snapshot, claims).get("web1.example.com")).toBe(NOW - 5_000);
});
