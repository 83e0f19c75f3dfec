import { expect, test } from "vitest";
import {
  formatOutputChunk,
  formatOutputRequest,
  parseOutputChunk,
  parseOutputRequest,
} from "../../../src/core/protocol/output.ts";

test("requests and chunks survive a round trip", () => {
  const request = { follow: true, read: 3, tail: 10, since: 1_795_000_000_000 };
  expect(parseOutputRequest(formatOutputRequest(request))).toEqual(request);
  const chunk = { number: 1, server: "s", records: "AAA=", skipped: 7, isEnd: false };
  expect(parseOutputChunk(formatOutputChunk(chunk))).toEqual(chunk);
});

test.each([
  "",
  "x",
  "{}",
  '{"follow":1,"read":0}',
  '{"follow":true,"read":-1}',
  '{"follow":true,"read":0,"tail":"1"}',
])("a request %j of somebody else is not read", (text) => {
  expect(parseOutputRequest(text)).toBeUndefined();
  expect(parseOutputChunk(text)).toBeUndefined();
});
