/**
 * The lightweight transport: etcd's JSON gateway. It is on the start-up path of `run`, so it loads nothing but
 * node:net.
 */
import type { Member } from "../member.ts";
import type { CheckedOptions } from "../options.ts";
import type { ByteCodec } from "../wire-codec.ts";
import { ConnectionPool } from "./connection-pool.ts";
import { createPlainDialer, createSecureDialer } from "./dial.ts";
import { HttpMember } from "./http-member.ts";

/** JSON omits zero bytes, hence undefined. */
export const bytes: ByteCodec<string | undefined> = {
  fromKey: (key) => Buffer.from(key, "latin1").toString("base64"),
  fromText: (text) => Buffer.from(text, "utf8").toString("base64"),
  toKey: (base64) => Buffer.from(base64 ?? "", "base64").toString("latin1"),
  toText: (base64) => Buffer.from(base64 ?? "", "base64").toString("utf8"),
};

export async function openMembers(options: CheckedOptions): Promise<Member[]> {
  const members = options.parsed.map(async (endpoint) => {
    const dial = endpoint.secure
      ? await createSecureDialer(endpoint, options.tls)
      : createPlainDialer(endpoint);
    return new HttpMember({ url: endpoint.url, pool: new ConnectionPool(dial) });
  });
  return await Promise.all(members);
}
