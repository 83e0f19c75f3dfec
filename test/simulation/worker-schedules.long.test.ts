import { describe, test } from "vitest";
import { listChunks, playWorkerChunk, suppressStackTraces } from "./seeds.ts";

suppressStackTraces();

/** They are slow: more would reach the timeout of a test on a busy machine. */
const CHUNK = 100;

// In a file of its own: Node.js keeps a part of each simulation, because what is dead in it never ends.
describe("random schedules of workers, whose batches are lost, late and repeated", () => {
  test.each(listChunks(1_000, CHUNK))("seeds from %i on keep every invariant", (first) =>
    playWorkerChunk(first, CHUNK),
  );
});
