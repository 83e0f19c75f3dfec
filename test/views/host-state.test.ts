import { describe, expect, it } from "vitest";
import { type HostSigns, judgeHostState } from "../../src/views/hosts.ts";
import { NOW } from "../state/pictures.ts";

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
