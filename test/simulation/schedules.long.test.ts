import { describe, test } from "vitest";
import { chunksOf, playAgentChunk, playChunk, withoutStackTraces } from "./seeds.ts";

withoutStackTraces();

describe("random schedules of the real run, over a network that loses, delays and repeats", () => {
  test.each(chunksOf(20_000))("seeds from %i on keep every invariant", (first) => playChunk(first));
});

describe("random schedules of runs that share a process, which combines their transactions", () => {
  test.each(chunksOf(4_000))("seeds from %i on keep every invariant", (first) =>
    playChunk(first, { combines: true }),
  );
});

describe("random schedules of agents that are killed, frozen and replaced while their runs go on", () => {
  test.each(chunksOf(5_000))("seeds from %i on keep every invariant", (first) => playAgentChunk(first));
});
