import { describe, test } from "vitest";
import { chunksOf, playChunk, withoutStackTraces } from "./seeds.ts";

withoutStackTraces();

describe("random schedules of the real run, over a network that loses, delays and repeats", () => {
  test.each(chunksOf(20_000))("seeds from %i on keep every invariant", playChunk);
});
