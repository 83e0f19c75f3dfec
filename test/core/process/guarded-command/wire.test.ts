import { expect, test } from "vitest";
import { parseCommandExit } from "../../../../src/core/process/guarded-command/native-guarded-command.ts";
import {
  BLOCK_MAX,
  decodeProcessStartTimes,
  encodeEnvironmentBlock,
  encodeFrame,
  encodeWords,
  FrameReader,
  GUARDIAN_REQUEST,
} from "../../../../src/core/process/guarded-command/wire.ts";

test("frames are parsed independent of how the bytes are split", () => {
  const bytes = Buffer.concat([
    encodeFrame(1, 2n, -3n),
    encodeFrame(65, 2n ** 62n, 1n, Buffer.from("a block")),
    encodeFrame(70),
  ]);
  for (let cut = 1; cut < bytes.length; cut++) {
    const reader = new FrameReader();
    const frames = [...reader.consume(bytes.subarray(0, cut)), ...reader.consume(bytes.subarray(cut))];
    expect(frames).toEqual([
      { kind: 1, a: 2n, b: -3n, block: Buffer.alloc(0) },
      { kind: 65, a: 2n ** 62n, b: 1n, block: Buffer.from("a block") },
      { kind: 70, a: 0n, b: 0n, block: Buffer.alloc(0) },
    ]);
  }
});

test("instants beyond 64 bits are clamped", () => {
  const [frame] = new FrameReader().consume(encodeFrame(1, 2n ** 80n, -(2n ** 80n)));
  expect(frame).toMatchObject({ kind: 1, a: 2n ** 63n - 1n, b: -(2n ** 63n - 1n) });
});

test("an environment is NUL-separated, and refused where it cannot be one", () => {
  expect(encodeEnvironmentBlock({ A: "1", B: "x=y" }).toString()).toBe("A=1\0B=x=y\0");
  for (const bad of [
    { "": "x" },
    { "A=B": "x" },
    { "A\0": "x" },
    { A: "x\0y" },
    { A: "x".repeat(BLOCK_MAX) },
  ])
    expect(() => encodeEnvironmentBlock(bad)).toThrow(RangeError);
});

test("words are cut into orders that the guardian takes, and joined again", () => {
  const words = ["sh", "", "ä".repeat(BLOCK_MAX), "-c"];
  const frames = new FrameReader().consume(Buffer.concat(encodeWords(words)));
  expect(frames.map(({ kind }) => kind)).toEqual([
    GUARDIAN_REQUEST.words,
    GUARDIAN_REQUEST.words,
    GUARDIAN_REQUEST.words,
  ]);
  expect(Math.max(...frames.map(({ block }) => block.length))).toBe(BLOCK_MAX);
  expect(Buffer.concat(frames.map(({ block }) => block)).toString()).toBe(
    words.map((it) => `${it}\0`).join(""),
  );
  expect(() => encodeWords(["a\0b"])).toThrow(RangeError);
});

test("what the guardian saw is a start time for each process", () => {
  const block = Buffer.alloc(32);
  block.writeUInt32LE(7, 0);
  block.writeBigUInt64LE(1234n, 8);
  block.writeUInt32LE(4_000_000, 16);
  block.writeBigUInt64LE(2n ** 40n, 24);
  const seen = [
    [7, 1234],
    [4_000_000, 2 ** 40],
  ];
  expect([...decodeProcessStartTimes(block)]).toEqual(seen);
});

test.each([
  [0n, 0n, { code: 0, signal: undefined, terminated: false, leftovers: false }],
  [0x2a00n, 1n, { code: 42, signal: undefined, terminated: false, leftovers: true }],
  [9n, 2n, { code: undefined, signal: 9, terminated: true, leftovers: false }],
  [
    9n,
    6n,
    {
      code: undefined,
      signal: 9,
      terminated: true,
      leftovers: false,
      why: "its guardian was killed, or held by a debugger",
    },
  ],
  [0x8bn, 3n, { code: undefined, signal: 11, terminated: true, leftovers: true }], // core dumped
])("wait status %s with bits %s", (a, b, exit) => {
  expect(parseCommandExit({ kind: 69, a, b, block: Buffer.alloc(0) })).toEqual(exit);
});
