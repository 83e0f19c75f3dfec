import { describe, test } from "vitest";
import { listChunks, playAgentChunk, playChunk, suppressStackTraces } from "./seeds.ts";

suppressStackTraces();

describe("random schedules of the real run, over a network that loses, delays and repeats", () => {
  test.each(listChunks(20_000))("seeds from %i on keep every invariant", (first) => playChunk(first));
});

describe("random schedules of runs that share a process, which combines their transactions", () => {
  test.each(listChunks(4_000))("seeds from %i on keep every invariant", (first) =>
    playChunk(first, { combines: true }),
  );
});

describe("random schedules of agents that are killed, frozen and replaced while their runs go on", () => {
  test.each(listChunks(5_000))("seeds from %i on keep every invariant", (first) => playAgentChunk(first));
});
