/** The messages of the frequent calls are those of etcd: compared with the definitions that etcd3 contains. */
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import protobuf, { type Field } from "protobufjs";
import { expect, it } from "vitest";
import { createCodings, DEFINITIONS } from "../../../../src/core/etcd/grpc/messages.ts";
import { parseInteger } from "../../../../src/core/etcd/wire-codec.ts";

const { root: own } = protobuf.parse(DEFINITIONS, { keepCase: true });
const folderOfEtcd3 = dirname(createRequire(import.meta.url).resolve("etcd3/package.json"));
const etcd = new protobuf.Root().loadSync(join(folderOfEtcd3, "proto/rpc.proto"), { keepCase: true });
etcd.resolveAll();

/** An enumeration is an `int32` on the wire. A message is known by its name, without its package. */
function describeField({ name, id, type, repeated, resolvedType, partOf }: Field) {
  const wire = resolvedType instanceof protobuf.Enum ? "int32" : type.replace(/^.*\./, "");
  return { name, id, type: wire, repeated, oneOf: partOf?.name };
}

it.each(own.nestedArray.map((type) => type.name))("each field of %s is one of etcd", (name) => {
  const theirs = etcd.lookupType(name).fieldsArray.map(describeField);
  const fields = own.lookupType(name).fieldsArray.map(describeField);
  expect(theirs).toEqual(expect.arrayContaining(fields));
});

it("integers of 64 bits are exact", () => {
  const response = etcd.lookupType("RangeResponse");
  const header = { cluster_id: "18446744073709551615", revision: "9007199254740993", raft_term: "3" };
  const kvs = [{ lease: "-9223372036854775808", mod_revision: "4294967295", create_revision: "4294967296" }];
  const bytes = Buffer.from(response.encode(response.fromObject({ header, kvs })).finish());
  const read = createCodings(protobuf).range.deserialize(bytes) as { header: typeof header; kvs: typeof kvs };
  const [kv] = read.kvs;
  const integers = [read.header.cluster_id, read.header.revision, read.header.raft_term];
  const parts = [kv?.lease, kv?.mod_revision, kv?.create_revision];
  expect([...integers, ...parts].map(parseInteger)).toEqual([
    18446744073709551615n,
    9007199254740993n,
    3n,
    -9223372036854775808n,
    4294967295n,
    4294967296n,
  ]);
});

it("a damaged response is an error", () => {
  const { deserialize } = createCodings(protobuf).range;
  expect(() => deserialize(Buffer.from([0x12, 9, 1]))).toThrow();
});
