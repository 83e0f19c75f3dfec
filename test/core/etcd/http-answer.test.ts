/** The HTTP/1.1 parser of the HTTP transport: complete, split and invalid answers. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { HttpFault, HttpResponseReader } from "../../../src/core/etcd/http/connection.ts";

const buildHead = (...fields: string[]) => ["HTTP/1.1 200 OK", ...fields, "", ""].join("\r\n");
const CHUNKED = "Transfer-Encoding: chunked";

/** Parses bytes that are split at these positions. */
function read(text: string, cuts: readonly number[] = []) {
  const bytes = Buffer.from(text, "latin1");
  const reader = new HttpResponseReader();
  const places = [0, ...[...cuts].sort((a, b) => a - b).map((cut) => cut % (bytes.length + 1)), bytes.length];
  const ordered = [...places].sort((a, b) => a - b);
  const parts = ordered.slice(1).flatMap((end, i) => reader.consume(bytes.subarray(ordered[i], end)));
  return { reader, body: Buffer.concat(parts).toString("latin1") };
}

/** The code of the fault, or undefined. */
function catchFault(act: () => unknown): string | undefined {
  try {
    act();
    return undefined;
  } catch (error) {
    if (error instanceof HttpFault) return error.code;
    throw error;
  }
}

describe("an answer", () => {
  it.each([
    ["with a length", `${buildHead("Content-Length: 5")}hello`, "hello", true],
    ["that is empty", buildHead("content-length: 0"), "", true],
    ["in chunks", `${buildHead(CHUNKED)}3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\n\r\n`, "hello", true],
    [
      "in chunks, with trailers",
      `${buildHead(CHUNKED)}A\r\n0123456789\r\n0\r\nX: y\r\n\r\n`,
      "0123456789",
      true,
    ],
    ["after an interim one", `HTTP/1.1 100 Continue\r\n\r\n${buildHead("Content-Length: 2")}ok`, "ok", true],
    ["that closes", `${buildHead("Content-Length: 2", "Connection: close")}ok`, "ok", false],
    ["of HTTP/1.0", "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", "ok", false],
    ["that says its length twice", `${buildHead("Content-Length: 2", "Content-Length: 2")}ok`, "ok", true],
    ["with more behind it", `${buildHead("Content-Length: 2")}ok?`, "ok", false],
    ["without a body", "HTTP/1.1 204 No Content\r\n\r\n", "", true],
  ])("%s is read wherever it is cut", (_what, answer, body, persists) => {
    fc.assert(
      fc.property(fc.array(fc.nat(), { maxLength: 20 }), (cuts) => {
        const { reader, body: got } = read(answer, cuts);
        expect([reader.isDone, got, reader.persists]).toEqual([true, body, persists]);
      }),
    );
  });

  it("without a length goes on until the connection ends", () => {
    const { reader, body } = read(`${buildHead()}some text`);
    expect([reader.isDone, body]).toEqual([false, "some text"]);
    reader.end();
    expect([reader.isDone, reader.persists]).toEqual([true, false]);
  });

  it.each([
    ["its head", "HTTP/1.1 200 OK\r\nContent-"],
    ["its body", `${buildHead("Content-Length: 5")}hel`],
    ["a chunk", `${buildHead(CHUNKED)}5\r\nhel`],
    ["its last chunk", `${buildHead(CHUNKED)}5\r\nhello\r\n0\r\n`],
  ])("that ends within %s is cut off, not whole", (_what, answer) => {
    const { reader } = read(answer);
    expect([reader.isDone, catchFault(() => reader.end())]).toEqual([false, "ECONNRESET"]);
  });

  it.each([
    ["TLS", "\x15\x03\x01\x00\x02\x02\x16", "ENOTHTTP"],
    ["HTTP/2", "\x00\x00\x12\x04\x00\x00\x00", "ENOTHTTP"],
    ["a status of two digits", "HTTP/1.1 20 OK\r\n\r\n", "EBADHTTP"],
    ["no colon in a field", buildHead("Content-Length 5"), "EBADHTTP"],
    ["a folded field", buildHead("X: y", " z"), "EBADHTTP"],
    ["two lengths", buildHead("Content-Length: 5", "Content-Length: 6"), "EBADHTTP"],
    ["a length and chunks", buildHead("Content-Length: 5", CHUNKED), "EBADHTTP"],
    ["a length that is no number", buildHead("Content-Length: -1"), "EBADHTTP"],
    ["a coding that nobody asked for", buildHead("Transfer-Encoding: gzip, chunked"), "EBADHTTP"],
    ["a chunk's size that is no number", `${buildHead(CHUNKED)}0x5\r\n`, "EBADHTTP"],
    ["a chunk longer than it says", `${buildHead(CHUNKED)}2\r\nhello\r\n`, "EBADHTTP"],
    ["a head without end", `HTTP/1.1 200 OK\r\n${"X: y\r\n".repeat(5_000)}`, "EBADHTTP"],
    ["a chunk's size without end", `${buildHead(CHUNKED)}5;${"x".repeat(2_000)}`, "EBADHTTP"],
    ["trailers without end", `${buildHead(CHUNKED)}0\r\n${"X: y\r\n".repeat(5_000)}`, "EBADHTTP"],
  ])("with %s is refused", (_what, answer, code) => {
    expect(catchFault(() => read(answer))).toBe(code);
  });

  it("never throws anything else, and never ends a body early, for any bytes", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.array(fc.nat(), { maxLength: 5 }), (text, cuts) => {
        catchFault(() => read(text, cuts));
        catchFault(() => read(`${buildHead(CHUNKED)}${text}`, cuts));
      }),
    );
  });
});
