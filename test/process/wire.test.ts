import { expect, test } from "vitest";
import { commandExit } from "../../src/process/exits.ts";
import { BLOCK_MAX, encode, environmentBlock, FrameReader } from "../../src/process/wire.ts";

test("frames are found again, however the bytes are cut", () => {
  const bytes = Buffer.concat([encode(1, 2n, -3n), encode(65, 2n ** 62n, 1n), encode(70)]);
  for (let cut = 1; cut < bytes.length; cut++) {
    const reader = new FrameReader();
    const frames = [...reader.take(bytes.subarray(0, cut)), ...reader.take(bytes.subarray(cut))];
    expect(frames).toEqual([
      { kind: 1, a: 2n, b: -3n },
      { kind: 65, a: 2n ** 62n, b: 1n },
      { kind: 70, a: 0n, b: 0n },
    ]);
  }
});

test("instants beyond 64 bits are clamped", () => {
  const [frame] = new FrameReader().take(encode(1, 2n ** 80n, -(2n ** 80n)));
  expect(frame).toEqual({ kind: 1, a: 2n ** 63n - 1n, b: -(2n ** 63n - 1n) });
});

test("an environment is NUL-separated, and refused where it cannot be one", () => {
  expect(environmentBlock({ A: "1", B: "x=y" }).toString()).toBe("A=1\0B=x=y\0");
  for (const bad of [
    { "": "x" },
    { "A=B": "x" },
    { "A\0": "x" },
    { A: "x\0y" },
    { A: "x".repeat(BLOCK_MAX) },
  ])
    expect(() => environmentBlock(bad)).toThrow(RangeError);
});

test.each([
  [0n, 0n, { code: 0, signal: undefined, terminated: false, leftovers: false }],
  [0x2a00n, 1n, { code: 42, signal: undefined, terminated: false, leftovers: true }],
  [9n, 2n, { code: undefined, signal: 9, terminated: true, leftovers: false }],
  [0x8bn, 3n, { code: undefined, signal: 11, terminated: true, leftovers: true }], // core dumped
])("wait status %s with bits %s", (a, b, exit) => {
  expect(commandExit({ kind: 69, a, b })).toEqual(exit);
});
