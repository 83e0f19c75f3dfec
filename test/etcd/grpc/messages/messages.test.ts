/** Our messages are those of etcd: compared with protobufjs and the definitions that etcd3 contains. */
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  RANGE_REQUEST,
  RANGE_RESPONSE,
  TXN_REQUEST,
  TXN_RESPONSE,
  WATCH_REQUEST,
  WATCH_RESPONSE,
} from "../../../../src/etcd/grpc/own-messages.ts";
import type { Field, MessageType } from "../../../../src/etcd/grpc/protobuf.ts";
import { decodeMessage, encodeMessage } from "../../../../src/etcd/grpc/protobuf.ts";

interface Coding {
  requestSerialize(message: object): Buffer;
  requestDeserialize(bytes: Buffer): object;
  responseSerialize(message: object): Buffer;
  responseDeserialize(bytes: Buffer): object;
}

const requireOfEtcd3 = createRequire(createRequire(import.meta.url).resolve("etcd3"));
const { loadSync } = requireOfEtcd3("@grpc/proto-loader") as {
  loadSync(path: string, options: object): Record<string, Record<string, Coding>>;
};
/** As etcd3 loads it, but without defaults: then the absent fields are those that were not sent. */
const services = loadSync(join(dirname(requireOfEtcd3.resolve("etcd3")), "../proto/rpc.proto"), {
  keepCase: true,
  longs: String,
});
const { Range, Txn } = services["etcdserverpb.KV"] as Record<"Range" | "Txn", Coding>;
const { Watch } = services["etcdserverpb.Watch"] as Record<"Watch", Coding>;

const REQUESTS: [name: string, type: MessageType, coding: Coding][] = [
  ["range", RANGE_REQUEST, Range],
  ["txn", TXN_REQUEST, Txn],
  ["watch", WATCH_REQUEST, Watch],
];
const RESPONSES: [name: string, type: MessageType, coding: Coding][] = [
  ["range", RANGE_RESPONSE, Range],
  ["txn", TXN_RESPONSE, Txn],
  ["watch", WATCH_RESPONSE, Watch],
];

/** Whether a field is an enumeration in the definition, so that only few numbers are allowed. */
const ENUMERATIONS = new Set(["sort_order", "sort_target", "result", "target", "filters", "type"]);
/** Members of one `oneof`: a message has at most one of them. */
const ONE_OF = [
  /^request_/,
  /^response_/,
  /^(create|cancel|progress)_request$/,
  /^(create_revision|mod_revision|value|lease)$/,
];

/** Any message of a type, in our form. */
function createArbitrary(type: MessageType, depth = 0): fc.Arbitrary<Record<string, unknown>> {
  const isUnion = type.fields.some(
    ({ name }) => name === "target" || /^(request|response|create)_(range|request)$/.test(name),
  );
  const parts = type.fields
    .filter(({ kind }) => depth < 3 || typeof kind === "string")
    .map((field): [string, fc.Arbitrary<unknown>] => [field.name, createFieldArbitrary(field, depth)]);
  const all = fc.record(Object.fromEntries(parts), { requiredKeys: [] });
  return isUnion ? fc.tuple(all, fc.nat()).map(([message, pick]) => keepOneOfEach(message, pick)) : all;
}

/** @param pick  chooses which one */
function keepOneOfEach(message: Record<string, unknown>, pick: number): Record<string, unknown> {
  const kept = { ...message };
  for (const group of ONE_OF) {
    const members = Object.keys(message).filter((name) => group.test(name));
    for (const name of members) if (name !== members[pick % members.length]) delete kept[name];
  }
  return kept;
}

function createFieldArbitrary({ name, kind, isRepeated }: Field, depth: number): fc.Arbitrary<unknown> {
  const one = createValueArbitrary(name, kind, depth);
  return isRepeated ? fc.array(one, { minLength: 1, maxLength: 4 }) : one;
}

function createValueArbitrary(name: string, kind: Field["kind"], depth: number): fc.Arbitrary<unknown> {
  if (ENUMERATIONS.has(name)) return fc.integer({ min: 0, max: 1 });
  if (kind === "key")
    return fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes).toString("latin1"));
  if (kind === "text") return fc.string({ unit: "grapheme", maxLength: 200 });
  if (kind === "flag") return fc.boolean();
  if (kind === "integer")
    return fc.oneof(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), fc.maxSafeNat());
  if (kind === "unsigned") return fc.oneof(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), fc.maxSafeNat());
  return createArbitrary(kind, depth + 1);
}

/** Converts a message to the form of protobufjs: integers as text, bytes as Buffers. */
function toForeign(type: MessageType, message: Record<string, unknown>): Record<string, unknown> {
  const convert = ({ name, kind }: Field, value: unknown): unknown => {
    if (typeof kind !== "string") return toForeign(kind, value as Record<string, unknown>);
    if (kind === "key") return Buffer.from(value as string, "latin1");
    if (kind === "text") return name === "cancel_reason" ? value : Buffer.from(value as string);
    if (ENUMERATIONS.has(name) || kind === "flag") return value;
    return String(value);
  };
  return Object.fromEntries(
    type.fields
      .filter(({ name }) => message[name] !== undefined)
      .map((field) => {
        const { [field.name]: value } = message;
        return [
          field.name,
          field.isRepeated ? (value as unknown[]).map((one) => convert(field, one)) : convert(field, value),
        ];
      }),
  );
}

/** Removes what a reader cannot tell from its absence, and the form of integers. */
function normalize(type: MessageType, message: Record<string, unknown>): unknown {
  const convert = ({ kind }: Field, value: unknown): unknown => {
    if (typeof kind !== "string") return normalize(kind, value as Record<string, unknown>);
    return kind === "integer" || kind === "unsigned" ? BigInt(value as number) : value;
  };
  return Object.fromEntries(
    type.fields
      .filter(({ name }) => message[name] !== undefined)
      .map((field) => {
        const { [field.name]: value } = message;
        return [
          field.name,
          field.isRepeated ? (value as unknown[]).map((one) => convert(field, one)) : convert(field, value),
        ];
      }),
  );
}

describe.each(REQUESTS)("a %s request", (_name, type, coding) => {
  it("is read by protobufjs as what protobufjs would have written", () => {
    fc.assert(
      fc.property(createArbitrary(type), (message) => {
        const foreign = coding.requestDeserialize(coding.requestSerialize(toForeign(type, message)));
        expect(coding.requestDeserialize(encodeMessage(type, message))).toEqual(foreign);
      }),
    );
  });
});

describe.each(RESPONSES)("a %s response", (_name, type, coding) => {
  it("of protobufjs is read", () => {
    fc.assert(
      fc.property(createArbitrary(type), (message) => {
        const read = decodeMessage(type, coding.responseSerialize(toForeign(type, message)));
        expect(normalize(type, read as Record<string, unknown>)).toEqual(normalize(type, message));
      }),
    );
  });

  it("that is cut or damaged is refused, or read as something: never without end, never beyond its bytes", () => {
    fc.assert(
      fc.property(createArbitrary(type), fc.nat(), fc.nat(255), (message, at, byte) => {
        const bytes = encodeMessage(type, message);
        const damaged = Buffer.from(bytes);
        if (damaged.length > 0) damaged[at % damaged.length] = byte;
        for (const one of [bytes.subarray(0, at % (bytes.length + 1)), damaged])
          try {
            decodeMessage(type, one);
          } catch (error) {
            expect((error as Error).message).toMatch(/^a message of etcd /);
          }
      }),
    );
  });
});

it("reads fields in any order, and skips those that it does not know", () => {
  const unknown = [0x78, 0x96, 0x01, 0x7a, 2, 1, 2, 0x7d, 1, 2, 3, 4, 0x79, 1, 2, 3, 4, 5, 6, 7, 8]; // number 15, each type
  const bytes = Buffer.from([0x20, 7, ...unknown, 0x18, 1]);
  expect(decodeMessage(RANGE_RESPONSE, bytes)).toEqual({ count: 7, more: true });
});

it.each<[what: string, bytes: number[]]>([
  ["a number of more than 64 bits", [0x20, ...Array.from({ length: 11 }, () => 0xff), 1]],
  ["a length beyond its end", [0x12, 9, 1]],
  ["a length of 2^40", [0x12, 0x80, 0x80, 0x80, 0x80, 0x80, 0x20]],
  ["a part that is longer than the whole", [0x12, 3, 0x2a, 9, 1]],
  ["a field of an unknown type", [0x0b]],
])("refuses %s", (_what, bytes) => {
  expect(() => decodeMessage(RANGE_RESPONSE, Buffer.from(bytes))).toThrow(/^a message of etcd /);
});

it("writes messages that are longer than its first buffer", () => {
  const value = "ä".repeat(300_000);
  const success = Array.from({ length: 5 }, (_, index) => ({ request_put: { key: `k${index}`, value } }));
  const read = Txn.requestDeserialize(encodeMessage(TXN_REQUEST, { success })) as {
    success: { request_put: { key: Buffer; value: Buffer } }[];
  };
  expect(read.success.map(({ request_put: { key } }) => String(key))).toEqual(["k0", "k1", "k2", "k3", "k4"]);
  expect(read.success.every(({ request_put: put }) => String(put.value) === value)).toBe(true);
});
